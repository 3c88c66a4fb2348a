// SPDX-License-Identifier: Apache-2.0

/// What a check found in one payload, in words that a person can act on.
package struct PayloadFinding: Equatable, Sendable {
    /// How grave a finding is, from the least.
    package enum Severity: String, CaseIterable, Comparable, Sendable {
        /// Better left out, and nothing depends on it.
        case advice = "I"
        /// People will be annoyed, or a part of the payload does nothing.
        case warning = "W"
        /// The notification cannot be shown as it is meant; `checks = strict` refuses it.
        case error = "E"

        /// Whether one is less grave than the other.
        package static func < (first: Severity, second: Severity) -> Bool { first.rank < second.rank }

        private var rank: Int {
            switch self {
            case .advice: 0
            case .warning: 1
            case .error: 2
            }
        }
    }

    /// What was looked for.
    package var check: PayloadCheck
    /// How grave it is here.
    package var severity: Severity
    /// Where, for example `aps.badge`, or empty for the payload as a whole.
    ///
    /// It names only keys of ours and of APNs.
    package var path: String
    /// What is wrong and what to do: printable ASCII, at most 200 bytes, nothing of the payload's own text.
    package var text: String

    /// Joins the parts.
    package init(_ check: PayloadCheck, severity: Severity, path: String, text: String) {
        self.check = check
        self.severity = severity
        self.path = path
        self.text = text
    }

    /// Everything in one line, for example `E L-G01 aps.badge: The badge shows digits only: …`.
    package var line: String {
        path.isEmpty
            ? "\(severity.rawValue) \(check.rawValue): \(text)"
            : "\(severity.rawValue) \(check.rawValue) \(path): \(text)"
    }
}

/// The findings of one payload: in order, each once, and no more than a person reads.
struct PayloadFindings {
    private(set) var list: [PayloadFinding] = []
    let pushType: PushType?
    /// Names that may still be looked up among misspellings, each of which is compared with all keys.
    var spellingCountLeft = PayloadLinter.spellingCountMax

    /// Takes only what is looked for in this push type.
    init(pushType: PushType?) { self.pushType = pushType }

    /// Adds a finding, unless it is there already; when there are too many, the graver ones stay.
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
