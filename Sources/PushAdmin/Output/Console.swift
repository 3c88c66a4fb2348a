// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Standard input, output and error.
enum Console {
    /// Prints a report.
    static func show(_ report: Report, asJSON: Bool) throws(CommandError) -> ExitCode {
        let text = asJSON ? try json(report.json) : report.text
        _ = try write(text + "\n")
        if let complaint = report.complaint { complain(problem: complaint.problem, remedy: complaint.remedy) }
        return report.exitCode
    }

    /// Prints a failure for programs; when that fails too, the exit code is left.
    static func show(failure: [String: String]) {
        _ = try? write(JSONText.printable(JSONText.encodeKnown(failure)) + "\n")
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
        let text = "posthorn: \(oneLine(problem))\n  \(oneLine(remedy))\n"
        try? LocalFile.write(Array(text.utf8), descriptor: STDERR_FILENO, path: "standard error")
    }

    /// Says lines of ours on standard error, beside a result; a failure to do so cannot be told to anybody.
    static func note(_ lines: [String]) {
        let text = lines.map { $0 + "\n" }.joined()
        try? LocalFile.write(Array(text.utf8), descriptor: STDERR_FILENO, path: "standard error")
    }

    /// Shows on the terminal how far something is, in place of what stood there; an empty text clears the line.
    static func showProgress(_ text: String) {
        try? LocalFile.write(Array("\r\u{1B}[K\(text)".utf8), descriptor: STDERR_FILENO, path: "standard error")
    }

    /// Asks before something that cannot be undone, if a person is there to answer.
    ///
    /// A script gets no question: it knows what it runs.
    static func confirm(_ question: String, unless isSure: Bool) throws(CommandError) {
        guard !isSure, isatty(STDIN_FILENO) == 1 else { return }
        let text = "\(oneLine(question)) [y/N] "
        try? LocalFile.write(Array(text.utf8), descriptor: STDERR_FILENO, path: "standard error")
        let answer = readLine() ?? ""
        guard answer == "y" || answer == "Y" || answer == "yes" else { throw .notConfirmed }
    }

    /// Asks for a password at the terminal, twice, without showing it.
    ///
    /// - Parameter question: Without the colon.
    /// - Returns: nil when nothing was typed, or nobody is there to answer.
    /// - Throws: When the two are not the same.
    static func askForPassword(_ question: String) throws(CommandError) -> String? {
        guard isatty(STDIN_FILENO) == 1 else { return nil }
        // getpass(3) speaks with /dev/tty and lends a buffer that the next call uses again.
        guard let first = unsafe getpass("\(oneLine(question)): ").map({ unsafe String(cString: $0) }), !first.isEmpty
        else { return nil }
        let second = unsafe getpass("Again: ").map { unsafe String(cString: $0) }
        guard let second, second.utf8.elementsEqual(first.utf8) else { throw .notTheSamePassword }
        return first
    }

    private static func json(_ value: any Encodable) throws(CommandError) -> String {
        do {
            return try JSONText.printable(JSONText.encode(value))
        } catch {
            throw .badAnswer(of: "posthorn", detail: "\(error)")
        }
    }
}
