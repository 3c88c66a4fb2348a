// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import PushCore

/// Standard input, output and error.
enum Console {
    /// Whether a person reads standard output directly.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Prints a report.
    static func show(_ report: Report, asJSON: Bool) throws(CommandError) -> ExitCode {
        let text = asJSON ? try json(report.json) : DisplayText.terminal(report.text)
        // Machines get JSON unchanged; a terminal must not obey what a sender wrote into it.
        let shown = asJSON && isTerminal ? DisplayText.terminal(text) : text
        if !shown.isEmpty { _ = try write(shown + "\n") }
        if let complaint = report.complaint { complain(problem: complaint.problem, remedy: complaint.remedy) }
        return report.exitCode
    }

    /// Writes a text of ours.
    static func write(_ text: String) throws(CommandError) -> ExitCode {
        do throws(FileError) {
            try LocalFile.write(Array(text.utf8), descriptor: STDOUT_FILENO, path: "standard output")
        } catch {
            throw .file(error)
        }
        return .ok
    }

    /// Says on standard error what is wrong and what to do; a failure to do so cannot be told to anybody.
    static func complain(problem: String, remedy: String) {
        let text = DisplayText.terminal("posthorn: \(oneLine(problem))\n  \(oneLine(remedy))\n")
        try? LocalFile.write(Array(text.utf8), descriptor: STDERR_FILENO, path: "standard error")
    }

    /// Asks before something that cannot be undone, if a person is there to answer.
    ///
    /// A script gets no question: it knows what it runs.
    static func confirm(_ question: String, unless isSure: Bool) throws(CommandError) {
        guard !isSure, isatty(STDIN_FILENO) == 1 else { return }
        let text = DisplayText.terminal("\(oneLine(question)) [y/N] ")
        try? LocalFile.write(Array(text.utf8), descriptor: STDERR_FILENO, path: "standard error")
        let answer = readLine() ?? ""
        guard answer == "y" || answer == "Y" || answer == "yes" else { throw .notConfirmed }
    }

    private static func json(_ value: any Encodable) throws(CommandError) -> String {
        do {
            return try String(decoding: JSONText.encode(value), as: UTF8.self)
        } catch {
            throw .badAnswer(of: "posthorn", detail: "\(error)")
        }
    }
}

/// JSON as this program writes it: keys sorted, no blanks, so that outputs can be compared.
enum JSONText {
    static func encode(_ value: any Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    /// Encodes a value of ours, which cannot hold anything that JSON lacks.
    static func encodeKnown(_ value: any Encodable) -> [UInt8] {
        do { return try encode(value) } catch { preconditionFailure("not encodable: \(error)") }
    }
}
