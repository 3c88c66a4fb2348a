// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A run of the file that will replace this process, in a child process, with the same arguments and `--check-config`.
///
/// A file that is not a program, lacks a library, or refuses the configuration cannot replace the process. The check
/// detects this while the process still serves.
package final class ReplacementCheck: EventHandler {
    /// The number of bytes of the child's error output that a result contains.
    private static let problemByteCountMax = 1024

    private let loop: EventLoop
    private let timeLimit: Duration
    private let completion: (String?) -> Void
    private let child: Int32
    private let errorOutput: FileDescriptor
    private let end: FileDescriptor
    private var registration: Registration?
    private var timer: TimerID?
    private var isLate = false

    /// Starts the check.
    ///
    /// - Parameters:
    ///   - loop: The loop that waits for the child.
    ///   - environment: The environment of the child.
    ///   - timeLimit: The time after which the child is killed.
    ///   - completion: Receives the problem, or nil if the file can replace the process.
    /// - Throws: `NetError.system` if the file is missing or not executable, or if memory or descriptors are exhausted.
    package init(
        on loop: EventLoop, environment: [String: String], timeLimit: Duration,
        completion: @escaping (String?) -> Void
    ) throws(NetError) {
        self.loop = loop
        self.timeLimit = timeLimit
        self.completion = completion
        let path = try ProgramReplacement.programFile()
        let errors = try Pipe()
        try errors.reading.setNonblocking()
        var launch = ProgramLaunch(
            path, [path] + ProcessFacts.arguments + ["--check-config"], environment: environment)
        launch.output = errors.writing.rawValue
        launch.errorOutput = errors.writing.rawValue
        child = try launch.start()
        errorOutput = errors.takeReading()
        do throws(NetError) { end = try FileDescriptor.end(ofChild: child) } catch {
            Self.kill(child)
            throw error
        }
        do throws(NetError) {
            registration = try loop.register(end.rawValue, for: .readable, handler: self)
        } catch {
            Self.kill(child)
            throw error
        }
        timer = loop.schedule(after: timeLimit) { [weak self] in self?.killLate() }
    }

    /// Ends the check without a result.
    package func cancel() {
        guard stop() else { return }
        Self.kill(child)
    }

    package func ready(_ readiness: Readiness) {
        var status: Int32 = 0
        let found = unsafe waitpid(child, &status, WNOHANG)
        guard found != 0, stop() else { return }
        guard found == child else { return completion("the result of the new program is unknown") }
        if isLate { return completion("the check of the new program did not end within \(timeLimit)") }
        completion(status == 0 ? nil : problem(status))
    }

    private func killLate() {
        timer = nil
        isLate = true
        _ = Glibc.kill(-child, SIGKILL)
    }

    /// Stops waiting; returns false if that happened before.
    private func stop() -> Bool {
        guard let registration else { return false }
        loop.deregister(registration)
        if let timer { loop.cancel(timer) }
        (self.registration, timer) = (nil, nil)
        return true
    }

    private static func kill(_ child: Int32) {
        _ = Glibc.kill(-child, SIGKILL)
        _ = waitpid(child, nil, 0)
    }

    /// Returns the child's own text, or a description of its exit status.
    private func problem(_ status: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: Self.problemByteCountMax)
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe read(errorOutput.rawValue, $0.baseAddress, $0.count)
        }
        let lines = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n")
        guard lines.isEmpty else { return lines.joined(separator: " ") }
        return status & 0x7F == 0
            ? "the new program exited with status \(status >> 8)" : "signal \(status & 0x7F) ended the new program"
    }
}
