// SPDX-License-Identifier: Apache-2.0

/// A part of a notification, with the reason why it is withheld, or nil if it is presented.
package struct PresentationEffect: Sendable, Equatable {
    /// The parts that a notification can have.
    package enum Part: String, Sendable, CaseIterable {
        case badge, sound, alert
    }

    package var part: Part
    /// The reason why the part is withheld; nil if it is presented.
    package var suppressionReason: SuppressionReason?

    package init(_ part: Part, _ suppressionReason: SuppressionReason? = nil) {
        self.part = part
        self.suppressionReason = suppressionReason
    }

    /// The text in the inbox, for example `sound` or `sound:silent`.
    package var text: String { suppressionReason.map { "\(part.rawValue):\($0.rawValue)" } ?? part.rawValue }
}
