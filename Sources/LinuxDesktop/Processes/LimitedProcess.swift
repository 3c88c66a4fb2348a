// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import PushNet

/// A program that reads bytes from standard input and writes bytes to standard output, with limits on time and output.
///
/// ```
///   start ──▶ reads input, writes output ──▶ ended ──▶ the rest of the output ──▶ completed
///                      │ limit exceeded
///                      └──────▶ killed with its family ──▶ failed
/// ```
///
/// The result is complete when the program itself has ended. Processes that it left in its process group are then
/// killed, and do not delay the result.
///
/// It runs on the loop's thread. The loop retains this object until the program is reaped.
package final class LimitedProcess {
    /// The program to run, its environment and its input.
    package struct Command: Sendable, Equatable {
        /// The absolute path; neither `PATH` nor a shell is involved.
        package var program: String
        /// The arguments without the program's name.
        package var arguments: [String]
        /// The environment; the agent's private variables are removed from it.
        package var environment: [String: String]
        /// The bytes for standard input.
        package var input: [UInt8]

        package init(_ program: String, _ arguments: [String], environment: [String: String], input: [UInt8] = []) {
            self.program = program
            self.arguments = arguments
            self.environment = environment
            self.input = input
        }
    }

    /// The reason why there is no result.
    package enum Failure: Error, Sendable, Equatable {
        /// The program did not start; the value is errno.
        case notStarted(Int32)
        /// The program exceeded the time limit.
        case timedOut(Duration)
        /// The program wrote more bytes than the limit.
        case outputTooLarge(Int)
        /// The program ended with a status other than 0.
        case exited(Int32)
        case killed(Int32)
    }

    /// The capacity of a pipe.
    private static let errorPieceByteCount = 64 * 1024

    private let outputByteCountMax: Int
    private let completion: (Result<[UInt8], Failure>) -> Void
    /// The loop retains this object, so the reference back is unowned.
    private unowned let loop: EventLoop
    private var child: pid_t?
    private var input: ArraySlice<UInt8>
    private var inputEnd: WatchedDescriptor?
    private var output: [UInt8] = []
    private var outputEnd: WatchedDescriptor?
    private var errorOutput: ErrorOutput
    private var errorEnd: WatchedDescriptor?
    private var childEnd: WatchedDescriptor?
    private var timer: TimerID?
    private var isAnswered = false
    /// The reason why the program did not start; nil if it has started.
    package private(set) var startFailure: Failure?

    /// Starts a program in a session of its own.
    ///
    /// - Parameters:
    ///   - command: The program to run; it does not get the agent's private variables.
    ///   - loop: The loop on whose thread this runs.
    ///   - timeLimit: The time limit; after it, the program is killed.
    ///   - outputByteCountMax: The maximum output in bytes; with more, the program is killed.
    ///   - log: Receives an event when the standard error of the program is cut.
    ///   - writeError: Receives the program's standard error, up to `Limits.programErrorByteCountMax`.
    ///   - completion: Called once, after this has returned, with the standard output or the failure; never after
    ///     `cancel`.
    package init(
        _ command: Command, on loop: EventLoop, timeLimit: Duration, outputByteCountMax: Int, log: EventLog,
        writeError: @escaping ([UInt8]) -> Void = { StandardStream.error.write($0) },
        completion: @escaping (Result<[UInt8], Failure>) -> Void
    ) {
        self.outputByteCountMax = outputByteCountMax
        self.completion = completion
        self.loop = loop
        input = command.input[...]
        errorOutput = ErrorOutput(of: command.program, log: log, write: writeError)
        // A program that closes its input must not end the agent with SIGPIPE.
        Signal.ignoreBrokenPipes()
        do throws(NetError) {
            try start(command, timeLimit)
        } catch {
            let hasBegun = child != nil
            giveUp()
            guard case .system(_, let code, _) = error else { preconditionFailure("Pipe threw NetError.badAddress") }
            if !hasBegun { startFailure = .notStarted(code) }
            loop.atEndOfTurn { self.answer(.failure(.notStarted(code))) }
        }
    }

    /// The loop ends first, so a thread reaps the program if it still runs.
    deinit {
        kill()
        if let child { ChildProcesses.collect(child) }
    }

    /// Kills the program and its family, without calling the completion.
    package func cancel() {
        isAnswered = true
        killFamily()
        closePipes()
    }

    private func start(_ command: Command, _ timeLimit: Duration) throws(NetError) {
        let input = try Pipe()
        let output = try Pipe()
        let errors = try Pipe()
        try input.writing.setNonblocking()
        try output.reading.setNonblocking()
        try errors.reading.setNonblocking()
        var launch = ProgramLaunch(
            command.program, [command.program] + command.arguments,
            environment: ProgramEnvironment.withoutOwn(command.environment))
        launch.input = input.reading.rawValue
        launch.output = output.writing.rawValue
        launch.errorOutput = errors.writing.rawValue
        let started = try launch.start()
        child = started
        childEnd = try WatchedDescriptor(try .end(ofChild: started), for: .readable, on: loop) { self.collect() }
        inputEnd = try WatchedDescriptor(input.takeWriting(), for: .writable, on: loop) { self.write() }
        outputEnd = try WatchedDescriptor(output.takeReading(), for: .readable, on: loop) { self.read() }
        errorEnd = try WatchedDescriptor(errors.takeReading(), for: .readable, on: loop) { self.readErrors() }
        timer = loop.schedule(after: timeLimit) { [weak self] in self?.end(.timedOut(timeLimit)) }
    }

    // MARK: Input and output

    private func write() {
        guard let descriptor = inputEnd?.number else { return }
        let count = unsafe input.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 || errno == EINTR || errno == EAGAIN || input.isEmpty else {
            // The program closed its input; its output may be valid all the same.
            return inputEnd = nil
        }
        input = input.dropFirst(max(0, count))
        if input.isEmpty { inputEnd = nil }
    }

    private func read() {
        guard let descriptor = outputEnd?.number else { return }
        var bytes = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return }
            guard count > 0 else { return outputEnd = nil }
            guard output.count + count <= outputByteCountMax else { return end(.outputTooLarge(outputByteCountMax)) }
            output += bytes.prefix(count)
        }
    }

    /// Reads at most one pipe's capacity per turn, so that a program that writes endlessly does not block the loop.
    private func readErrors() {
        guard let descriptor = errorEnd?.number else { return }
        var bytes = [UInt8](repeating: 0, count: Self.errorPieceByteCount)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else {
            if count == 0 || (errno != EINTR && errno != EAGAIN) { errorEnd = nil }
            return
        }
        errorOutput.take(bytes.prefix(count))
    }

    private func closePipes() {
        readErrors()
        errorOutput.end()
        errorEnd = nil
        inputEnd = nil
        outputEnd = nil
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    // MARK: The program's end

    /// Reads the remaining output, kills the process group, and reports the result, after the program has ended.
    private func collect() {
        guard let child else { return }
        read()
        kill()
        var status: Int32 = 0
        guard unsafe waitpid(child, &status, WNOHANG) == child else { return }
        self.child = nil
        childEnd = nil
        let signal = status & 0x7F
        let code = status >> 8 & 0xFF
        answer(signal != 0 ? .failure(.killed(signal)) : code != 0 ? .failure(.exited(code)) : .success(output))
    }

    /// Kills the program and reports the failure immediately; `collect` reaps the program later.
    private func end(_ failure: Failure) {
        killFamily()
        answer(.failure(failure))
    }

    /// Kills a program whose start failed half-way; a thread reaps it if its end is not watched.
    private func giveUp() {
        kill()
        guard let child, childEnd == nil else { return }
        ChildProcesses.collect(child)
        self.child = nil
    }

    /// Kills the process group; its ID stays valid until the program is reaped.
    private func kill() { if let child { _ = Glibc.kill(-child, SIGKILL) } }

    private func killFamily() { if let child { ProcessFamily.kill(child) } }

    private func answer(_ result: Result<[UInt8], Failure>) {
        closePipes()
        guard !isAnswered else { return }
        isAnswered = true
        completion(result)
    }
}

extension LimitedProcess.Failure {
    /// The failure as a phrase that follows a program's name.
    package var message: String {
        switch self {
        case .notStarted(let code): "cannot be started: \(SystemError.text(code))"
        case .timedOut(let limit): "took longer than \(limit)"
        case .outputTooLarge(let limit): "wrote more than \(limit) bytes"
        case .exited(let status): "ended with status \(status)"
        case .killed(let signal): "was ended by signal \(signal)"
        }
    }
}
