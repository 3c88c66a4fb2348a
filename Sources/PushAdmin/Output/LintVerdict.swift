// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// What is wrong with payloads, for people and for programs.
package struct LintVerdict: Encodable, Sendable {
    /// One payload and what is wrong with it.
    package struct File: Encodable, Sendable {
        /// Its name as it was given.
        package let file: String
        /// In order.
        package let findings: [Finding]
        /// The line of a payload that is no JSON, and a caret below the place; nil for any other payload.
        let excerpt: String?

        private enum CodingKeys: String, CodingKey {
            case file, findings
        }
    }

    /// One finding.
    package struct Finding: Encodable, Sendable {
        /// For example `L-G01`.
        package let check: String
        /// `E`, `W` or `I`.
        package let severity: String
        /// For example `aps.badge`; empty for the payload as a whole.
        package let path: String
        /// What is wrong and what to do.
        package let text: String

        fileprivate let line: String

        fileprivate init(_ finding: PayloadFinding) {
            check = finding.check.rawValue
            severity = finding.severity.rawValue
            path = finding.path
            text = finding.text
            line = finding.line
        }

        private enum CodingKeys: String, CodingKey {
            case check, severity, path, text
        }
    }

    /// The payloads, in order.
    package let files: [File]
    /// How many findings have severity E.
    package let errors: Int
    /// How many findings have severity W.
    package let warnings: Int
    /// How many findings have severity I.
    package let advice: Int

    /// Judges payloads.
    ///
    /// - Parameters:
    ///   - files: Names and bytes.
    ///   - pushType: `apns-push-type`.
    ///   - appName: The app's name, if it is known.
    ///   - intervalSeconds: How far apart they are sent, to one device in this order; nil when that is not so.
    package init(
        _ files: [(path: String, payload: [UInt8])], pushType: PushType?, appName: String?, intervalSeconds: Int64?
    ) {
        var history = PayloadHistory(nowUnixSeconds: 0)
        var judged: [File] = []
        for (path, payload) in files {
            let findings = PayloadLinter.findings(
                payload: payload.span, pushType: pushType, appName: appName,
                history: intervalSeconds == nil ? nil : history)
            judged.append(
                File(file: path, findings: findings.map(Finding.init), excerpt: Self.excerpt(of: payload, findings)))
            history.note(payload.span, pushType: pushType)
            // A thousand files, thirty days apart each, are far from any overflow.
            history.nowUnixSeconds += intervalSeconds ?? 0
        }
        self.files = judged
        let severities = judged.flatMap(\.findings).map(\.severity)
        func count(_ severity: PayloadFinding.Severity) -> Int { severities.count { $0 == severity.rawValue } }
        (errors, warnings, advice) = (count(.error), count(.warning), count(.advice))
    }

    /// What `lint` prints and ends with.
    ///
    /// - Parameter isStrict: Whether warnings count as errors.
    /// - Returns: One line for each finding, and one that counts them.
    package func report(isStrict: Bool) -> Report {
        var report = Report((lines + [summary]).joined(separator: "\n"), json: self)
        if errors > 0 || (isStrict && warnings > 0) { report.exitCode = .refused }
        return report
    }

    /// One line for each finding, behind the file's name.
    package var lines: [String] {
        files.flatMap { file in
            let name = file.file == "-" ? "standard input" : oneLine(file.file)
            return file.findings.map { "\(name): \($0.line)" } + (file.excerpt.map { [$0] } ?? [])
        }
    }

    private var summary: String {
        let counts = [
            errors > 0 ? Self.counted(errors, "error") : nil, warnings > 0 ? Self.counted(warnings, "warning") : nil,
            advice > 0 ? Self.counted(advice, "piece", of: " of advice") : nil,
        ].compactMap(\.self)
        let found = counts.isEmpty ? "nothing found" : counts.joined(separator: ", ")
        return "\(Self.counted(files.count, "payload")): \(found)"
    }

    private static func counted(_ count: Int, _ noun: String, of rest: String = "") -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")\(rest)"
    }

    private enum CodingKeys: String, CodingKey {
        case files, errors, warnings, advice
    }
}

extension LintVerdict {
    /// The columns of a line that are shown on each side of an error.
    private static let excerptColumnCount = 36

    /// The line of a payload in which JSON ends, with a caret below the place.
    private static func excerpt(of payload: [UInt8], _ findings: [PayloadFinding]) -> String? {
        guard findings.first?.check == .malformed else { return nil }
        do throws(JSONError) {
            try JSONValidator.validateObject(payload.span)
            return nil
        } catch {
            let line = PayloadAdvice.place(of: error.offset, in: payload.span).lineRange
            let place = min(max(error.offset, line.lowerBound), line.upperBound)
            let before = shown(payload[line.lowerBound..<place])
            let after = shown(payload[place..<line.upperBound])
            let head = lastColumns(of: before)
            let tail = DisplayWidth.cut(after, columnCount: excerptColumnCount)
            let indent = String(repeating: " ", count: DisplayWidth.columnCount(head))
            return "  \(head)\(tail)\n  \(indent)^"
        }
    }

    /// Bytes as a terminal may show them: nothing in them acts.
    private static func shown(_ bytes: ArraySlice<UInt8>) -> String {
        oneLine(String(decoding: bytes, as: UTF8.self))
    }

    /// The end of a text, with an ellipsis when something stands before it.
    private static func lastColumns(of text: String) -> String {
        var kept = Substring(text)
        var columnCount = DisplayWidth.columnCount(text)
        guard columnCount > excerptColumnCount else { return text }
        while columnCount >= excerptColumnCount, let first = kept.popFirst() {
            columnCount -= DisplayWidth.columnCount(String(first))
        }
        return "…" + kept
    }
}
