// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushCore
package import PushNet

/// A program that gets bytes, answers bytes, and has a limit for its time and for its answer.
///
/// ```
///   start ──▶ takes input, gives output ──▶ ended ──▶ the rest of the output ──▶ answered
///                      │ too long, too much
///                      └──────▶ killed with its family ──▶ failed
/// ```
///
/// It is done when the program itself has ended: what it left in the background, in its process group, is killed, too, and
/// holds nobody up.
/// One thread, that of the loop, which keeps the process until it is collected.
package final class LimitedProcess {
    /// What to run.
    package struct Command: Sendable, Equatable {
        /// The absolute path; nothing looks it up, and no shell reads it.
        package var program: String
        /// Without the program's own name.
        package var arguments: [String]
        /// All of it.
        package var environment: [String: String]
        /// What it reads from standard input.
        package var input: [UInt8]

        /// Joins the parts.
        package init(_ program: String, _ arguments: [String], environment: [String: String], input: [UInt8] = []) {
            self.program = program
            self.arguments = arguments
            self.environment = environment
            self.input = input
        }
    }

    /// Why there is no answer.
    package enum Failure: Error, Sendable, Equatable {
        /// It did not start; the value of errno.
        case notStarted(Int32)
        /// It ran longer than the limit.
        case tookTooLong(Duration)
        /// It wrote more bytes than the limit.
        case saidTooMuch(Int)
        /// It ended with another status than 0.
        case exited(Int32)
        /// A signal ended it.
        case killed(Int32)
    }

    /// All that a pipe holds.
    private static let errorPieceByteCount = 64 * 1024

    private let outputByteCountMax: Int
    private let completion: (Result<[UInt8], Failure>) -> Void
    /// The loop keeps this object, not the other way round.
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
    /// Why it did not start; nil when it runs, or ran.
    package private(set) var startFailure: Failure?

    /// Starts a program in a session of its own, with the agent's environment less what is the agent's own.
    ///
    /// - Parameters:
    ///   - command: What to run.
    ///   - loop: Whose thread this is.
    ///   - timeLimit: After this it is killed.
    ///   - outputByteCountMax: With more output than this it is killed.
    ///   - writeError: Gets what it writes to standard error, up to `Limits.programErrorByteCountMax`.
    ///   - completion: Called once, never before this returns: what it wrote to standard output, or why that is
    ///     worth nothing; not at all after `cancel`.
    package init(
        _ command: Command, on loop: EventLoop, timeLimit: Duration, outputByteCountMax: Int,
        writeError: @escaping ([UInt8]) -> Void = { StandardStream.error.write($0) },
        completion: @escaping (Result<[UInt8], Failure>) -> Void
    ) {
        self.outputByteCountMax = outputByteCountMax
        self.completion = completion
        self.loop = loop
        input = command.input[...]
        errorOutput = ErrorOutput(of: command.program, write: writeError)
        // A program that does not read its input must not end us.
        Signal.ignoreBrokenPipes()
        do throws(NetError) {
            try start(command, timeLimit)
        } catch {
            let hasBegun = child != nil
            giveUp()
            guard case .system(_, let code, _) = error else { preconditionFailure("a pipe has no address") }
            if !hasBegun { startFailure = .notStarted(code) }
            loop.atEndOfTurn { self.answer(.failure(.notStarted(code))) }
        }
    }

    /// The loop went first: nothing watches for the end of what still runs.
    deinit {
        kill()
        if let child { ChildProcesses.collect(child) }
    }

    /// Kills it, and says nothing.
    package func cancel() {
        isAnswered = true
        killFamily()
        stopTalking()
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
        timer = loop.schedule(after: timeLimit) { [weak self] in self?.end(.tookTooLong(timeLimit)) }
    }

    // MARK: Talking

    private func write() {
        guard let descriptor = inputEnd?.number else { return }
        let count = unsafe input.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 || errno == EINTR || errno == EAGAIN || input.isEmpty else {
            // It closed its input: what it says may be right all the same.
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
            guard output.count + count <= outputByteCountMax else { return end(.saidTooMuch(outputByteCountMax)) }
            output += bytes.prefix(count)
        }
    }

    /// A piece in a turn, so that one that complains for ever keeps the loop from nothing else.
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

    private func stopTalking() {
        readErrors()
        errorOutput.end()
        errorEnd = nil
        inputEnd = nil
        outputEnd = nil
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    // MARK: Its end

    /// The program has ended: reads what is left, then lets go of what it left running.
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

    /// Answers at once; the loop collects it when it is dead.
    private func end(_ failure: Failure) {
        killFamily()
        answer(.failure(failure))
    }

    /// After a start that went wrong half-way: nothing watches for its end, which is near.
    private func giveUp() {
        kill()
        guard let child, childEnd == nil else { return }
        ChildProcesses.collect(child)
        self.child = nil
    }

    /// Its process group keeps the number until the program is collected.
    private func kill() { if let child { _ = Glibc.kill(-child, SIGKILL) } }

    private func killFamily() { if let child { ProcessFamily.kill(child) } }

    private func answer(_ result: Result<[UInt8], Failure>) {
        stopTalking()
        guard !isAnswered else { return }
        isAnswered = true
        completion(result)
    }
}

extension LimitedProcess.Failure {
    /// What happened, in words that go behind a program's name.
    package var message: String {
        switch self {
        case .notStarted(let code): "cannot be started: \(SystemError.text(code))"
        case .tookTooLong(let limit): "took longer than \(limit)"
        case .saidTooMuch(let limit): "wrote more than \(limit) bytes"
        case .exited(let status): "ended with status \(status)"
        case .killed(let signal): "was ended by signal \(signal)"
        }
    }
}
