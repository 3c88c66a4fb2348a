// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Testing

/// A process that a test started.
///
/// Its output goes to files, so that it never blocks on a reader.
///
/// It is killed when the last reference is released. A dedicated thread reaps it immediately.
package final class RunningProcess: Sendable {
    /// The process ID; send signals only with `send`.
    package let identifier: Int32
    private let name: String
    /// Whether the process is, or runs, a program of the project, whose log must not contain secrets.
    private let isInspected: Bool
    private let files: TemporaryDirectory
    private let input: InputPipe?
    private let waitStatus: CollectedStatus

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: The path of the program.
    ///   - arguments: The arguments without the program's name.
    ///   - environment: Variables that are added to the base environment.
    ///   - inheriting: Whether the base is the environment of this process; otherwise it contains only PATH.
    ///   - hasInput: Whether `write` will be used; otherwise standard input is /dev/null.
    ///   - errorPath: The file or FIFO for standard error; nil for a file that `errorOutput` reads.
    /// - Throws: `SystemFailure` when the program is missing or the system lacks resources.
    package init(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:],
        inheriting: Bool = true, hasInput: Bool = false, errorPath: String? = nil
    ) throws {
        files = try TemporaryDirectory()
        name = URL(fileURLWithPath: executable).lastPathComponent
        isInspected = ([executable] + arguments).contains { word in
            ["posthornd", "posthorn-agent", "posthorn-panel"].contains { word.hasSuffix("/\($0)") }
        }
        let base = inheriting ? ProcessInfo.processInfo.environment : ["PATH": "/usr/bin:/bin"]
        for (option, text) in zip(arguments, arguments.dropFirst()) where ["--body", "--title"].contains(option) {
            SecretWords.add("a text of a payload", text)
        }
        let isServer = ([executable] + arguments).contains { $0.hasSuffix("/posthornd") }
        // `LogInspection` must see all that a server can log. Command-line options and the caller's variables take
        // precedence.
        let logging = isServer ? ["POSTHORN_LOG_LEVEL": "debug"] : [:]
        let variables = base.merging(logging) { $1 }.merging(environment) { $1 }.filter { !$0.value.isEmpty }.map {
            "\($0)=\($1)"
        }
        input = hasInput ? try InputPipe() : nil
        identifier = try spawn(
            executable, arguments: [executable] + arguments, environment: variables, inputDescriptor: input?.readingEnd,
            outputPath: files.path(of: "stdout"), errorPath: errorPath ?? files.path(of: "stderr"))
        waitStatus = CollectedStatus()
        input?.closeReadingEnd()
        waitStatus.collect(identifier)
    }

    deinit {
        send(SIGKILL)
        // A crash is a failure even if the test did not notice it.
        let crashes = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]
        if case .signal(let signal) = exit, crashes.contains(signal) {
            Issue.record("\(name) crashed with signal \(signal). \(transcript)")
        }
        for finding in LogInspection.findings(inFile: files.path(of: "stderr")) where isInspected {
            Issue.record("The log of \(name) holds \(finding.kind), in: \(finding.event)")
        }
    }

    /// The exit status; nil while the process runs.
    package var exit: ProcessExit? { waitStatus.value.map(ProcessExit.init(waitStatus:)) }

    /// The standard output so far.
    package var output: String { files.read("stdout") }

    /// The standard error output so far.
    package var errorOutput: String { files.read("stderr") }

    /// Sends a signal, for example `SIGSTOP`; does nothing after the process has exited.
    package func send(_ signal: Int32) {
        if exit == nil { kill(identifier, signal) }
    }

    /// Stops the process with SIGSTOP and waits until all its threads have stopped; SIGCONT resumes it.
    package func freeze() async throws {
        send(SIGSTOP)
        try await eventually("\(name) stands still") { try ProcessThreads.haveStopped(of: identifier) }
    }

    /// Kills the process with SIGKILL and waits until it has exited.
    package func killNow() async throws {
        send(SIGKILL)
        try await waitForExit()
    }

    /// Waits until the process has exited.
    ///
    /// - Parameter duration: The deadline from now.
    /// - Returns: The exit status.
    /// - Throws: `DeadlinePassed` with the output.
    @discardableResult
    package func waitForExit(within duration: Duration = Patience.usual) async throws -> ProcessExit {
        try await eventualValue("\(name) has ended", within: duration, evidence: { self.transcript }) { exit }
    }

    /// Waits for a complete line on standard output.
    ///
    /// - Parameters:
    ///   - index: The index of the line, from 0.
    ///   - duration: The deadline from now.
    /// - Returns: The line without its line feed.
    /// - Throws: `DeadlinePassed`, or `UnexpectedOutput` when the process exited before.
    package func outputLine(_ index: Int = 0, within duration: Duration = Patience.usual) async throws -> String {
        let what = "line \(index + 1) from \(name)"
        return try await eventualValue(what, within: duration, evidence: { self.transcript }) {
            let ended = exit
            if let line = output.completeLine(index) { return line }
            guard ended == nil else { throw UnexpectedOutput(result: result(ended), problem: "no \(what)") }
            return nil
        }
    }

    /// Writes to standard input.
    ///
    /// - Parameter text: The text.
    /// - Throws: `SystemFailure` when the process has exited or closed its input.
    package func write(_ text: String) throws {
        guard let input else { preconditionFailure("\(name) was started without input") }
        try input.write(text)
    }

    /// Closes standard input.
    package func endInput() { input?.closeWritingEnd() }

    /// The whole output, for failure messages.
    package var transcript: String { "\(name) wrote:\n\(output)\n\(errorOutput)" }

    private func result(_ exit: ProcessExit?) -> ProgramResult {
        ProgramResult(exit: exit ?? .code(-1), output: output, errorOutput: errorOutput)
    }

    /// Runs a program and waits until it exits.
    ///
    /// - Parameters:
    ///   - executable: The path of the program.
    ///   - arguments: The arguments without the program's name.
    ///   - environment: Variables that are added to the environment of this process.
    ///   - input: The standard input; nil for none.
    ///   - duration: The deadline from now.
    /// - Returns: The exit status and the output.
    /// - Throws: `SystemFailure` when it cannot start, `DeadlinePassed` when it does not exit.
    package static func run(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:],
        input: String? = nil, within duration: Duration = Patience.usual
    ) async throws -> ProgramResult {
        let process = try RunningProcess(executable, arguments, environment: environment, hasInput: input != nil)
        if let input { try process.write(input) }
        process.endInput()
        let exit = try await process.waitForExit(within: duration)
        return process.result(exit)
    }
}
