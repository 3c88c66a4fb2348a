// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Standard input, standard output and standard error.
enum Console {
    /// Prints a report and returns its exit code.
    static func show(_ report: Report, asJSON: Bool) throws(CommandError) -> ExitCode {
        if !report.isWritten { _ = try write((asJSON ? try json(report.json) : report.text) + "\n") }
        if let complaint = report.complaint { complain(problem: complaint.problem, remedy: complaint.remedy) }
        return report.exitCode
    }

    /// Prints a failure as JSON; ignores write errors, because the exit code reports the failure too.
    static func show(failure: [String: String]) {
        _ = try? write(JSONText.printable(JSONText.encodeKnown(failure)) + "\n")
    }

    /// Writes text to standard output.
    static func write(_ text: String) throws(CommandError) -> ExitCode {
        do throws(FileError) {
            try LocalFile.write(Array(text.utf8), descriptor: STDOUT_FILENO, path: "standard output")
        } catch {
            // The reader closed the pipe because it has enough, for example `head`.
            if error.code == EPIPE { exit(ExitCode.ok.rawValue) }
            throw .file(error)
        }
        return .ok
    }

    /// Prints a problem and its remedy to standard error; ignores write errors.
    static func complain(problem: String, remedy: String) {
        let text = "posthorn: \(oneLine(problem))\n" + (remedy.isEmpty ? "" : "  \(oneLine(remedy))\n")
        try? LocalFile.write(Array(text.utf8), descriptor: STDERR_FILENO, path: "standard error")
    }

    /// Prints lines to standard error, in addition to the result; ignores write errors.
    static func note(_ lines: [String]) {
        let text = lines.map { $0 + "\n" }.joined()
        try? LocalFile.write(Array(text.utf8), descriptor: STDERR_FILENO, path: "standard error")
    }

    /// Replaces the current terminal line with a progress text; an empty text clears the line.
    static func showProgress(_ text: String) {
        try? LocalFile.write(Array("\r\u{1B}[K\(text)".utf8), descriptor: STDERR_FILENO, path: "standard error")
    }

    /// Asks for confirmation of an operation that cannot be undone.
    ///
    /// Asks nothing when standard input is not a terminal, because a script runs the command deliberately.
    static func confirm(_ question: String, unless isSure: Bool) throws(CommandError) {
        guard !isSure, isatty(STDIN_FILENO) == 1 else { return }
        let text = "\(oneLine(question)) [y/N] "
        try? LocalFile.write(Array(text.utf8), descriptor: STDERR_FILENO, path: "standard error")
        let answer = readLine() ?? ""
        guard answer == "y" || answer == "Y" || answer == "yes" else { throw .notConfirmed }
    }

    /// Reads a password from the terminal twice, without echo.
    ///
    /// - Parameter question: The prompt, without the colon.
    /// - Returns: The password; nil if it is empty or standard input is not a terminal.
    /// - Throws: An error when the two passwords differ.
    static func askForPassword(_ question: String) throws(CommandError) -> String? {
        guard isatty(STDIN_FILENO) == 1 else { return nil }
        // getpass(3) reads from /dev/tty and returns a static buffer, which the next call overwrites.
        guard let first = unsafe getpass("\(oneLine(question)): ").map({ unsafe String(cString: $0) }), !first.isEmpty
        else { return nil }
        let second = unsafe getpass("Repeat password: ").map { unsafe String(cString: $0) }
        guard let second, second.utf8.elementsEqual(first.utf8) else { throw .notTheSamePassword }
        return first
    }

    /// Encodes a value as JSON that is safe to print on a terminal.
    static func json(_ value: any Encodable) throws(CommandError) -> String {
        do {
            return try JSONText.printable(JSONText.encode(value))
        } catch {
            throw .badAnswer(of: "posthorn", detail: "\(error)")
        }
    }
}
