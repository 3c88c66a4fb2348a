// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// A finding of a check in one payload, with advice for a human reader.
package struct PayloadFinding: Equatable, Sendable {
    /// The severity of a finding, from the lowest.
    package enum Severity: String, CaseIterable, Comparable, Sendable {
        /// A suggestion without consequences for the notification.
        case advice = "I"
        /// A part of the payload annoys users or has no effect.
        case warning = "W"
        /// The notification cannot be shown as intended; `checks = strict` refuses it.
        case error = "E"

        /// Returns whether the first severity is lower than the second.
        package static func < (first: Severity, second: Severity) -> Bool { first.rank < second.rank }

        private var rank: Int {
            switch self {
            case .advice: 0
            case .warning: 1
            case .error: 2
            }
        }
    }

    /// The check that reported the finding.
    package var check: PayloadCheck
    /// The severity of this finding.
    package var severity: Severity
    /// The path of the key, for example `aps.badge`; empty for the payload as a whole.
    ///
    /// It contains only keys that Posthorn or APNs defines.
    package var path: String
    /// The problem and the remedy: printable ASCII, at most 200 bytes, without any of the payload's own text.
    package var text: String

    package init(_ check: PayloadCheck, severity: Severity, path: String, text: String) {
        self.check = check
        self.severity = severity
        self.path = path
        self.text = text
    }

    /// The finding in one line, for example `E L-G01 aps.badge: A badge is a whole number, …`.
    package var line: String {
        path.isEmpty
            ? "\(severity.rawValue) \(check.rawValue): \(text)"
            : "\(severity.rawValue) \(check.rawValue) \(path): \(text)"
    }
}

/// The findings of one payload: in order, without duplicates, and limited in number.
struct PayloadFindings {
    private(set) var list: [PayloadFinding] = []
    let pushType: PushType?
    /// The number of further names that may be checked for typos; each is compared with all keys.
    var spellingCountLeft = PayloadLinter.spellingCountMax

    /// Creates an empty list; it accepts only findings of checks that apply to the push type.
    init(pushType: PushType?) { self.pushType = pushType }

    /// Adds a finding unless it is a duplicate or does not apply to the push type.
    ///
    /// In a full list, it replaces the last finding of the lowest severity if its own severity is higher.
    mutating func add(
        _ check: PayloadCheck, _ path: String, severity: PayloadFinding.Severity? = nil, text: String? = nil
    ) {
        guard check.applies(to: pushType), !list.contains(where: { $0.check == check && $0.path == path }) else {
            return
        }
        let finding = PayloadFinding(
            check, severity: severity ?? check.severity, path: path, text: text ?? check.sentence)
        if list.isEmpty { list.reserveCapacity(4) }
        guard list.count >= PayloadLinter.findingCountMax else { return list.append(finding) }
        guard let least = list.indices.reversed().min(by: { list[$0].severity < list[$1].severity }),
            list[least].severity < finding.severity
        else { return }
        list.remove(at: least)
        list.append(finding)
    }
}
