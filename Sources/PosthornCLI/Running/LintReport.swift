// SPDX-License-Identifier: Apache-2.0

internal import PayloadLint
internal import PushCore

/// The lint findings of several payloads, as text for users and as JSON for programs.
struct LintReport: Encodable, Sendable {
    /// A payload and its findings.
    struct File: Encodable, Sendable {
        /// The file name, as the user typed it.
        let file: String
        /// The findings in the linter's order.
        let findings: [Finding]
        /// The line with the syntax error and a caret below it; nil if the payload is valid JSON.
        let excerpt: String?

        private enum CodingKeys: String, CodingKey {
            case file, findings
        }
    }

    /// A lint finding.
    struct Finding: Encodable, Sendable {
        /// The check's identifier, for example `L-G01`.
        let check: String
        /// The severity: `E` (error), `W` (warning) or `I` (advice).
        let severity: String
        /// The key path, for example `aps.badge`; empty for the payload as a whole.
        let path: String
        /// The problem and its remedy.
        let text: String

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

    /// The payloads, in the order of the command line.
    let files: [File]
    /// The number of findings with severity E.
    let errors: Int
    /// The number of findings with severity W.
    let warnings: Int
    /// The number of findings with severity I.
    let advice: Int

    /// Lints payloads.
    ///
    /// - Parameters:
    ///   - files: The file names and payloads.
    ///   - pushType: The value of `apns-push-type`.
    ///   - appName: The app's name; nil if unknown.
    ///   - intervalSeconds: The time between two payloads that go to one device in this order; nil to lint each alone.
    init(
        _ files: [(path: String, payload: [UInt8])], pushType: PushType?, appName: String?, intervalSeconds: Int64?
    ) {
        var history = PayloadHistory(now: .unixEpoch)
        var linted: [File] = []
        for (path, payload) in files {
            let findings = PayloadLinter.findings(
                payload: payload.span, pushType: pushType, appName: appName,
                history: intervalSeconds == nil ? nil : history)
            linted.append(
                File(file: path, findings: findings.map(Finding.init), excerpt: Self.excerpt(of: payload, findings)))
            history.note(payload.span, pushType: pushType)
            history.now = history.now.advanced(bySeconds: intervalSeconds ?? 0)
        }
        self.files = linted
        let severities = linted.flatMap(\.findings).map(\.severity)
        func count(_ severity: PayloadFinding.Severity) -> Int { severities.count { $0 == severity.rawValue } }
        (errors, warnings, advice) = (count(.error), count(.warning), count(.advice))
    }

    /// Builds the output and the exit code of `lint`.
    ///
    /// - Parameter isStrict: Whether warnings count as errors.
    /// - Returns: One line for each finding and a summary line.
    func report(isStrict: Bool) -> Report {
        var report = Report((lines + [summary]).joined(separator: "\n"), json: self)
        if errors > 0 || (isStrict && warnings > 0) { report.exitCode = .refused }
        return report
    }

    /// One line for each finding, prefixed with the file name.
    var lines: [String] {
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
        let found = counts.isEmpty ? "no problems found" : counts.joined(separator: ", ")
        return "\(Self.counted(files.count, "payload")): \(found)"
    }

    private static func counted(_ count: Int, _ noun: String, of rest: String = "") -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")\(rest)"
    }

    private enum CodingKeys: String, CodingKey {
        case files, errors, warnings, advice
    }
}

extension LintReport {
    /// The number of columns that an excerpt shows on each side of a syntax error.
    private static let excerptColumnCount = 36

    /// Returns the line with the syntax error and a caret below it; nil if the payload is valid JSON.
    private static func excerpt(of payload: [UInt8], _ findings: [PayloadFinding]) -> String? {
        guard findings.first?.check == .malformed else { return nil }
        do throws(JSONError) {
            try JSONValidator.validateObject(payload.span)
            return nil
        } catch {
            let line = PayloadAdvice.position(of: error.offset, in: payload.span).lineRange
            let offset = min(max(error.offset, line.lowerBound), line.upperBound)
            let before = shown(payload[line.lowerBound..<offset])
            let after = shown(payload[offset..<line.upperBound])
            let head = lastColumns(of: before)
            let tail = DisplayWidth.cut(after, columnCount: excerptColumnCount)
            let indent = String(repeating: " ", count: DisplayWidth.columnCount(head))
            return "  \(head)\(tail)\n  \(indent)^"
        }
    }

    /// Converts bytes to text without control sequences.
    private static func shown(_ bytes: ArraySlice<UInt8>) -> String {
        oneLine(String(decoding: bytes, as: UTF8.self))
    }

    /// Returns the last columns of a text, with an ellipsis when it is truncated.
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
