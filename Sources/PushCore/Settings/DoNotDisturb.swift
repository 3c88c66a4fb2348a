// SPDX-License-Identifier: Apache-2.0

/// Whether a person wants not to be disturbed now.
package enum DoNotDisturb: Sendable, Equatable {
    case off
    case on
    /// Until a moment, UNIX seconds.
    case until(Int64)

    /// Reads `on`, `off`, or `until` and UNIX seconds.
    package init?(_ text: String) {
        let words = text.utf8.split(separator: UInt8(ascii: " "))
        switch words.first.map({ String(decoding: $0, as: UTF8.self) }) {
        case "off" where words.count == 1: self = .off
        case "on" where words.count == 1: self = .on
        case "until" where words.count == 2:
            guard let seconds = Int64(String(decoding: words[1], as: UTF8.self)), seconds >= 0 else { return nil }
            self = .until(seconds)
        default: return nil
        }
    }

    /// As it is kept.
    package var text: String {
        switch self {
        case .off: "off"
        case .on: "on"
        case .until(let seconds): "until \(seconds)"
        }
    }

    /// Whether it holds at a moment, UNIX seconds.
    package func holds(at now: Int64) -> Bool {
        switch self {
        case .off: false
        case .on: true
        case .until(let end): now < end
        }
    }
}
