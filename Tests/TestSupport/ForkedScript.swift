// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A Python script that a test started, in a process that was forked from one with all packages.
///
/// An interpreter of its own would need a quarter of a second of CPU time for its imports. The process ends with its
/// standard input, and is killed when the last reference is released.
package final class ForkedScript: Sendable {
    /// The process ID; send signals only with `send`.
    package let identifier: Int32
    private let name: String
    private let files: TemporaryDirectory
    private let input: FileHandle
    /// The process's directory in /proc, which becomes empty with the process, even if its ID is used again.
    private let folder: FileHandle

    /// Starts a script.
    ///
    /// - Parameters:
    ///   - script: The path of the script.
    ///   - arguments: The arguments without the script's name.
    /// - Throws: `MissingProgram` when `make setup` has not run; `SystemFailure` when the process cannot start.
    package init(_ script: String, _ arguments: [String] = []) async throws {
        files = try TemporaryDirectory()
        name = URL(fileURLWithPath: script).lastPathComponent
        for name in ["stdout", "stderr"] { try files.write("", to: name) }
        let pipe = files.path(of: "stdin")
        guard unsafe mkfifo(pipe, 0o600) == 0 else { throw SystemFailure(call: "mkfifo", code: errno) }
        // Unlike an open for writing alone, this does not wait for the reader.
        let descriptor = unsafe open(pipe, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemFailure(call: "open", code: errno) }
        input = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        identifier = try await ForkServer.shared.start(
            .init(
                arguments: [script] + arguments, input: pipe, output: files.path(of: "stdout"),
                errors: files.path(of: "stderr")))
        let number = unsafe open("/proc/\(identifier)", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw SystemFailure(call: "open", code: errno) }
        folder = FileHandle(fileDescriptor: number, closeOnDealloc: true)
    }

    deinit { send(SIGKILL) }

    /// Whether the process has ended.
    package var hasEnded: Bool { unsafe faccessat(folder.fileDescriptor, "stat", F_OK, 0) != 0 }

    /// The standard output so far.
    package var output: String { files.read("stdout") }

    /// The standard error output so far.
    package var errorOutput: String { files.read("stderr") }

    /// The whole output, for failure messages.
    package var transcript: String { "\(name) wrote:\n\(output)\n\(errorOutput)" }

    /// Sends a signal; does nothing after the process has ended.
    package func send(_ signal: Int32) {
        if !hasEnded { kill(identifier, signal) }
    }

    /// Kills the process and waits until it has ended.
    package func killNow() async throws {
        send(SIGKILL)
        try await eventually("\(name) has ended") { hasEnded }
    }

    /// Stops the process with SIGSTOP and waits until all its threads have stopped; SIGCONT resumes it.
    package func freeze() async throws {
        send(SIGSTOP)
        try await eventually("\(name) stands still") { try ProcessThreads.haveStopped(of: identifier) }
    }

    /// Waits for a complete line on standard output.
    ///
    /// - Parameters:
    ///   - index: The index of the line, from 0.
    ///   - duration: The deadline from now.
    /// - Returns: The line without its line feed.
    /// - Throws: `DeadlinePassed`, or `ProviderFailure` when the process ended before.
    package func outputLine(_ index: Int = 0, within duration: Duration = Patience.usual) async throws -> String {
        let what = "line \(index + 1) from \(name)"
        return try await eventualValue(what, within: duration, evidence: { self.transcript }) {
            let ended = hasEnded
            if let line = output.completeLine(index) { return line }
            guard !ended else { throw ProviderFailure(text: "no \(what)", transcript: transcript) }
            return nil
        }
    }

    /// Writes to standard input.
    package func write(_ text: String) throws { try input.write(contentsOf: Data(text.utf8)) }
}

/// The process that forks the scripts of this test run.
private actor ForkServer {
    static let shared = ForkServer()

    struct Order: Encodable {
        let arguments: [String]
        let input: String
        let output: String
        let errors: String
    }

    private var process: RunningProcess?
    private var startedCount = 0

    /// Forks a process for a script, and returns its ID.
    func start(_ order: Order) async throws -> Int32 {
        let server = try process ?? launch()
        process = server
        let index = startedCount
        startedCount += 1
        try server.write(String(decoding: try JSONEncoder().encode(order), as: UTF8.self) + "\n")
        let line = try await server.outputLine(index)
        guard let identifier = Int32(line) else { throw ProviderFailure(text: line, transcript: server.transcript) }
        return identifier
    }

    private func launch() throws -> RunningProcess {
        guard FileManager.default.isExecutableFile(atPath: RepositoryPaths.python) else {
            throw MissingProgram(name: ".venv/bin/python")
        }
        return try RunningProcess(
            RepositoryPaths.python, ["-u", RepositoryPaths.provider("fork_server.py")],
            environment: ["PYTHONPATH": ""], hasInput: true)
    }
}

extension String {
    /// Returns a line if it is complete.
    ///
    /// The output of the fork server is searched thousands of times, so the C library searches it.
    func completeLine(_ index: Int) -> String? {
        var rest = Data(utf8)[...]
        for _ in 0..<index {
            guard let end = rest.firstLineFeed else { return nil }
            rest = rest[(end + 1)...]
        }
        return rest.firstLineFeed.map { String(decoding: rest[..<$0], as: UTF8.self) }
    }
}

extension Data {
    fileprivate var firstLineFeed: Index? {
        unsafe withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress,
                let found = unsafe memchr(start, Int32(UInt8(ascii: "\n")), bytes.count)
            else { return nil }
            return unsafe startIndex + (UnsafeRawPointer(found) - start)
        }
    }
}

enum ProcessThreads {
    /// Returns whether all threads of a process have stopped.
    static func haveStopped(of process: Int32) throws -> Bool {
        let tasks = "/proc/\(process)/task"
        return try FileManager.default.contentsOfDirectory(atPath: tasks).allSatisfy { task in
            // A thread may exit before it stops.
            let status = try? String(contentsOfFile: "\(tasks)/\(task)/status", encoding: .utf8)
            return status?.contains("State:\tT") ?? false
        }
    }
}
