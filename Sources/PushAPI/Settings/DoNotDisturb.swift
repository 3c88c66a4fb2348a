// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// The state of Do Not Disturb, or of the mute of one app.
package enum DoNotDisturb: Sendable, Equatable {
    case off
    case on
    /// The state is "on" until this time.
    case until(Timestamp)

    /// Parses `on`, `off`, or `until` followed by UNIX seconds.
    package init?(_ text: String) {
        let words = text.utf8.split(separator: UInt8(ascii: " "))
        switch words.first.map({ String(decoding: $0, as: UTF8.self) }) {
        case "off" where words.count == 1: self = .off
        case "on" where words.count == 1: self = .on
        case "until" where words.count == 2:
            guard let seconds = Int64(String(decoding: words[1], as: UTF8.self)), seconds >= 0 else { return nil }
            self = .until(Timestamp(unixSeconds: seconds))
        default: return nil
        }
    }

    /// The stored text form.
    package var text: String {
        switch self {
        case .off: "off"
        case .on: "on"
        case .until(let end): "until \(end.unixSeconds)"
        }
    }

    /// Returns the state with an end that has passed as `off`.
    package func current(at now: Timestamp) -> DoNotDisturb {
        guard case .until(let end) = self, end <= now else { return self }
        return .off
    }

    /// Returns whether alerts and sounds are suppressed at a time.
    package func holds(at now: Timestamp) -> Bool {
        switch self {
        case .off: false
        case .on: true
        case .until(let end): now < end
        }
    }
}
