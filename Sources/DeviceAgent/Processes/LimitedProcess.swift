// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import PushNet

/// A program that gets bytes, answers bytes, and has a limit for its time and for its answer.
///
/// ```
///   start ──▶ takes input, gives output ──▶ ended ──▶ the rest of the output ──▶ answered
///                      │ too long, too much
///                      └──────▶ killed with its process group ──▶ failed
/// ```
///
/// It is done when the program itself has ended: what it left in the background is killed, too, and holds nobody up.
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

    private let outputByteCountMax: Int
    private let completion: (Result<[UInt8], Failure>) -> Void
    /// The loop keeps this object, not the other way round.
    private unowned let loop: EventLoop
    private var child: pid_t?
    private var input: ArraySlice<UInt8>
    private var inputEnd: WatchedDescriptor?
    private var output: [UInt8] = []
    private var outputEnd: WatchedDescriptor?
    private var childEnd: WatchedDescriptor?
    private var timer: TimerID?
    private var isAnswered = false

    /// Starts a program in a session of its own; what it writes to standard error goes where the agent's goes.
    ///
    /// - Parameters:
    ///   - command: What to run.
    ///   - loop: Whose thread this is.
    ///   - timeLimit: After this it is killed.
    ///   - outputByteCountMax: With more output than this it is killed.
    ///   - completion: Called once, never before this returns: what it wrote to standard output, or why that is
    ///     worth nothing; not at all after `cancel`.
    package init(
        _ command: Command, on loop: EventLoop, timeLimit: Duration, outputByteCountMax: Int,
        completion: @escaping (Result<[UInt8], Failure>) -> Void
    ) {
        self.outputByteCountMax = outputByteCountMax
        self.completion = completion
        self.loop = loop
        input = command.input[...]
        // A program that does not read its input must not end us.
        Signal.ignoreBrokenPipes()
        do throws(NetError) {
            try start(command, timeLimit)
        } catch {
            giveUp()
            guard case .system(_, let code, _) = error else { preconditionFailure("a pipe has no address") }
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
        stopTalking()
        kill()
    }

    private func start(_ command: Command, _ timeLimit: Duration) throws(NetError) {
        let input = try Pipe()
        let output = try Pipe()
        try input.writing.setNonblocking()
        try output.reading.setNonblocking()
        let started: pid_t
        do throws(ChildProcesses.Failure) {
            started = try ChildProcesses.spawn(
                command.program, [command.program] + command.arguments, environment: command.environment,
                input: input.reading.rawValue, output: output.writing.rawValue)
        } catch {
            throw .system(call: "posix_spawn", code: error.code, subject: command.program)
        }
        child = started
        childEnd = try WatchedDescriptor(try .end(ofChild: started), for: .readable, on: loop) { self.collect() }
        inputEnd = try WatchedDescriptor(input.takeWriting(), for: .writable, on: loop) { self.write() }
        outputEnd = try WatchedDescriptor(output.takeReading(), for: .readable, on: loop) { self.read() }
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

    private func stopTalking() {
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
        kill()
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

/// A descriptor that the loop watches until this goes; the closure is kept until then.
private final class WatchedDescriptor {
    private let descriptor: FileDescriptor
    /// Goes first when a test is over; what it kept goes then.
    private weak var loop: EventLoop?
    private let registration: Registration

    init(
        _ descriptor: consuming FileDescriptor, for readiness: Readiness, on loop: EventLoop,
        onReady: @escaping () -> Void
    ) throws(NetError) {
        registration = try loop.register(descriptor.rawValue, for: readiness, handler: Relay(onReady))
        self.descriptor = descriptor
        self.loop = loop
    }

    deinit { loop?.deregister(registration) }

    var number: Int32 { descriptor.rawValue }

    private final class Relay: EventHandler {
        private let onReady: () -> Void
        init(_ onReady: @escaping () -> Void) { self.onReady = onReady }
        func ready(_ readiness: Readiness) { onReady() }
    }
}
