// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Testing

/// A real process that a test started: output goes to files, so that nothing ever waits for a reader.
///
/// It is killed when the last reference goes. A thread of its own collects its status at once.
package final class RunningProcess: Sendable {
    /// The process id; only to be signalled through `send`.
    package let identifier: Int32
    private let name: String
    private let files: TemporaryDirectory
    private let input: InputPipe?
    private let waitStatus: CollectedStatus

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: Its path.
    ///   - arguments: Without the program's own name.
    ///   - environment: Added to this process's environment, or instead of it with `inheriting` false.
    ///   - inheriting: Whether the environment of this process is the base.
    ///   - hasInput: Whether `write` will be used; otherwise standard input is /dev/null.
    /// - Throws: `SystemFailure`; the program is missing or the system is out of something.
    package init(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:],
        inheriting: Bool = true, hasInput: Bool = false
    ) throws {
        files = try TemporaryDirectory()
        name = URL(fileURLWithPath: executable).lastPathComponent
        let base = inheriting ? ProcessInfo.processInfo.environment : ["PATH": "/usr/bin:/bin"]
        let variables = base.merging(environment) { $1 }.filter { !$0.value.isEmpty }.map { "\($0)=\($1)" }
        input = hasInput ? try InputPipe() : nil
        identifier = try spawn(
            executable, arguments: [executable] + arguments, environment: variables, inputDescriptor: input?.readingEnd,
            outputPath: files.path(of: "stdout"), errorPath: files.path(of: "stderr"))
        waitStatus = CollectedStatus()
        input?.closeReadingEnd()
        waitStatus.collect(identifier)
    }

    deinit {
        send(SIGKILL)
        // A program that crashed is a failure even where the test did not notice.
        let crashes = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV]
        if case .signal(let signal) = exit, crashes.contains(signal) {
            Issue.record("\(name) crashed with signal \(signal). \(transcript)")
        }
    }

    /// How it ended; nil while it runs.
    package var exit: ProcessExit? { waitStatus.value.map(ProcessExit.init(waitStatus:)) }

    /// What it wrote to standard output so far.
    package var output: String { files.read("stdout") }

    /// What it wrote to standard error so far.
    package var errorOutput: String { files.read("stderr") }

    /// Sends a signal, for example `SIGSTOP`; nothing happens when it has ended.
    package func send(_ signal: Int32) {
        if exit == nil { kill(identifier, signal) }
    }

    /// Stops it with SIGSTOP, and waits until none of its threads runs any more; SIGCONT lets it go on.
    package func freeze() async throws {
        send(SIGSTOP)
        let tasks = "/proc/\(identifier)/task"
        try await eventually("\(name) stands still") {
            try FileManager.default.contentsOfDirectory(atPath: tasks).allSatisfy { task in
                // A thread may end before it stops.
                let status = try? String(contentsOfFile: "\(tasks)/\(task)/status", encoding: .utf8)
                return status?.contains("State:\tT") ?? false
            }
        }
    }

    /// Kills it with SIGKILL and waits until it is gone.
    package func killNow() async throws {
        send(SIGKILL)
        try await waitForExit()
    }

    /// Waits until it has ended.
    ///
    /// - Parameter duration: The deadline from now.
    /// - Returns: How it ended.
    /// - Throws: `DeadlinePassed`, with what it wrote.
    @discardableResult
    package func waitForExit(within duration: Duration = Patience.usual) async throws -> ProcessExit {
        try await eventualValue("\(name) has ended", within: duration, evidence: { self.transcript }) { exit }
    }

    /// Waits for a complete line on standard output.
    ///
    /// - Parameters:
    ///   - index: Which, from 0.
    ///   - duration: The deadline from now.
    /// - Returns: The line without its end.
    /// - Throws: `DeadlinePassed`, or `UnexpectedOutput` when the process ended before.
    package func outputLine(_ index: Int = 0, within duration: Duration = Patience.usual) async throws -> String {
        let what = "line \(index + 1) from \(name)"
        return try await eventualValue(what, within: duration, evidence: { self.transcript }) {
            let ended = exit
            let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
            if lines.count > index + 1 { return String(lines[index]) }
            guard ended == nil else { throw UnexpectedOutput(result: result(ended), problem: "no \(what)") }
            return nil
        }
    }

    /// Writes to its standard input.
    ///
    /// - Parameter text: What to write.
    /// - Throws: `SystemFailure`: it has ended, or closed its input.
    package func write(_ text: String) throws {
        guard let input else { preconditionFailure("\(name) was started without input") }
        try input.write(text)
    }

    /// Ends its standard input.
    package func endInput() { input?.closeWritingEnd() }

    /// All that it wrote, for a failure's text.
    package var transcript: String { "\(name) wrote:\n\(output)\n\(errorOutput)" }

    private func result(_ exit: ProcessExit?) -> ProgramResult {
        ProgramResult(exit: exit ?? .code(-1), output: output, errorOutput: errorOutput)
    }

    /// Runs a program to its end.
    ///
    /// - Parameters:
    ///   - executable: Its path.
    ///   - arguments: Without the program's own name.
    ///   - environment: Added to this process's environment.
    ///   - input: What it reads on standard input.
    ///   - duration: The deadline from now.
    /// - Returns: Exit and output.
    /// - Throws: `SystemFailure` when it cannot start, `DeadlinePassed` when it does not end.
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
