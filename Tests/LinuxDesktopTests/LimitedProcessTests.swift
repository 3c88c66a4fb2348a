// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import LinuxDesktop
import PushCore
import PushNet
import LoopTestSupport
import TestSupport
import Testing

/// Runs real programs, including programs that fail in every way.
struct LimitedProcessTests {
    private let loop: EventLoop

    init() throws { loop = try EventLoop() }

    private func run(
        _ program: String, _ arguments: [String] = [], input: [UInt8] = [], within timeLimit: Duration = .seconds(60),
        outputByteCountMax: Int = 64 * 1024, environment: [String: String] = [:],
        writeError: @escaping ([UInt8]) -> Void = { _ in }
    ) async throws -> Result<String, LimitedProcess.Failure> {
        var results: [Result<[UInt8], LimitedProcess.Failure>] = []
        let command = LimitedProcess.Command(
            program, arguments,
            environment: ["PATH": "/usr/bin:/bin", "GREETING": "hello"].merging(environment) { $1 }, input: input)
        let process = LimitedProcess(
            command, on: loop, timeLimit: timeLimit, outputByteCountMax: outputByteCountMax, log: testLog,
            writeError: writeError
        ) { results.append($0) }
        #expect(results.isEmpty)
        try await loop.run("\(program) is answered") { !results.isEmpty }
        withExtendedLifetime(process) {}
        #expect(results.count == 1)
        return try #require(results.first).map { String(decoding: $0, as: UTF8.self) }
    }

    private func shell(
        _ script: String, input: [UInt8] = [], within timeLimit: Duration = .seconds(60)
    ) async throws -> Result<String, LimitedProcess.Failure> {
        try await run("/bin/sh", ["-c", script], input: input, within: timeLimit)
    }

    @Test func `a program gets arguments, environment and input, and its output is the answer`() async throws {
        let answer = try await shell(#"echo "$GREETING $0"; tr a-z A-Z"#, input: Array("from stdin".utf8))
        #expect(answer == .success("hello /bin/sh\nFROM STDIN"))
        #expect(try await run("/bin/echo", ["$(id)", "a b"]) == .success("$(id) a b\n"))
    }

    @Test func `input and output may exceed the size of a pipe`() async throws {
        let bytes = [UInt8](repeating: UInt8(ascii: "x"), count: 1_000_000)
        let answer = try await run("/bin/cat", input: bytes, outputByteCountMax: bytes.count)
        #expect(answer == .success(String(repeating: "x", count: bytes.count)))
    }

    @Test func `a program that does not read its input still returns its output`() async throws {
        let bytes = [UInt8](repeating: 0, count: 1_000_000)
        #expect(try await shell("exec 0<&-; echo done", input: bytes) == .success("done\n"))
    }

    @Test(arguments: [(1000, true), (1001, false)])
    func `the output has a size limit`(count: Int, isTaken: Bool) async throws {
        let answer = try await run("/usr/bin/head", ["-c", "\(count)", "/dev/zero"], outputByteCountMax: 1000)
        #expect(answer == (isTaken ? .success(String(repeating: "\0", count: count)) : .failure(.outputTooLarge(1000))))
    }

    @Test func `a program that writes endlessly is killed at the limit`() async throws {
        #expect(try await run("/bin/cat", ["/dev/zero"]) == .failure(.outputTooLarge(64 * 1024)))
    }

    @Test func `a program that hangs is killed with all its children`() async throws {
        let directory = try TemporaryDirectory()
        let numbers = directory.path(of: "numbers")
        let script = "trap '' TERM; sleep 1000 & echo $$ $! > '\(numbers)'; wait"
        var limit: Duration = .milliseconds(500)
        var processes: [Substring] = []
        // A slow machine may kill the program before it has started a child.
        while processes.count < 2, limit < .seconds(60) {
            #expect(try await shell(script, within: limit) == .failure(.timedOut(limit)))
            processes = directory.read("numbers").split(whereSeparator: \.isWhitespace)
            limit = limit * 2
        }
        #expect(processes.count == 2)
        try await loop.run("both are gone") { processes.allSatisfy { !isRunning($0) } }
    }

    @Test func `a child in a session of its own is killed with the program`() async throws {
        let directory = try TemporaryDirectory()
        let inner = "cd '\(directory.path)'; echo $$ > new; mv new number; exec sleep 1000"
        let script = #"setsid sh -c "$INNER" & wait"#
        var limit: Duration = .milliseconds(500)
        // A slow machine may kill the program before it has started a child.
        while directory.read("number").isEmpty, limit < .seconds(60) {
            let answer = try await run(
                "/bin/sh", ["-c", script], within: limit, environment: ["INNER": inner])
            #expect(answer == .failure(.timedOut(limit)))
            limit = limit * 2
        }
        let process = Substring(directory.read("number").trimmingCharacters(in: .whitespacesAndNewlines))
        #expect(!process.isEmpty)
        try await loop.run("it is gone") { !isRunning(process) }
    }

    @Test func `standard error is forwarded up to a limit, without waiting for it`() async throws {
        var errors: [UInt8] = []
        let answer = try await run(
            "/bin/sh", ["-c", "head -c 1000000 /dev/zero >&2; echo done"], writeError: { errors += $0 })
        #expect(answer == .success("done\n"))
        #expect(errors == [UInt8](repeating: 0, count: Limits.programErrorByteCountMax) + [UInt8(ascii: "\n")])
        errors = []
        _ = try await run("/bin/sh", ["-c", "echo careful >&2; printf end >&2"], writeError: { errors += $0 })
        #expect(String(decoding: errors, as: UTF8.self) == "careful\nend\n")
    }

    @Test func `a program inherits no descriptor except its three standard ones`() async throws {
        // A library may open a descriptor without close-on-exec.
        let descriptor = unsafe open("/dev/null", O_RDONLY)
        defer { close(descriptor) }
        #expect(try await run("/bin/ls", ["/proc/self/fd"]) == .success("0\n1\n2\n3\n"))
    }

    @Test func `a program inherits none of the agent's own variables`() async throws {
        let answer = try await run(
            "/usr/bin/env",
            environment: [
                "POSTHORN_AGENT_ENROLMENT_CODE": "x", "POSTHORN_AGENT_PROXY": "x", "NOTIFY_SOCKET": "x",
                "POSTHORN_ENTRY": "7",
            ])
        let variables = answer.map { Set($0.split(separator: "\n")) }
        #expect(variables == .success(["PATH=/usr/bin:/bin", "GREETING=hello", "POSTHORN_ENTRY=7"]))
    }

    @Test func `a background process does not delay the answer, and is killed`() async throws {
        let answer = try await shell("sleep 1000 & echo $!")
        let process = try answer.get().split(whereSeparator: \.isWhitespace)[0]
        try await loop.run("it is gone") { !isRunning(process) }
    }

    @Test func `a failing program reports how it ended`() async throws {
        #expect(try await shell("echo text; exit 3") == .failure(.exited(3)))
        #expect(try await shell("echo text; kill -9 $$") == .failure(.killed(9)))
        #expect(try await run("/nonexistent/program") == .failure(.notStarted(ENOENT)))
        #expect(try await run("/etc/passwd") == .failure(.notStarted(EACCES)))
    }

    @Test func `a canceled program is killed and reports nothing`() async throws {
        let directory = try TemporaryDirectory()
        var answerCount = 0
        let script = "echo $$ > '\(directory.path(of: "new"))'; cd '\(directory.path)'; mv new number; sleep 1000"
        let process = LimitedProcess(
            .init("/bin/sh", ["-c", script], environment: ["PATH": "/usr/bin:/bin"]), on: loop,
            timeLimit: .seconds(60), outputByteCountMax: 1, log: testLog
        ) { _ in answerCount += 1 }
        try await loop.run("it runs") { !directory.read("number").isEmpty }
        process.cancel()
        let number = directory.read("number").trimmingCharacters(in: .whitespacesAndNewlines)
        try await loop.run("it is gone") { !FileManager.default.fileExists(atPath: "/proc/\(number)") }
        #expect(answerCount == 0)
    }

    @Test func `a program does not outlive the loop that waits for it`() async throws {
        let directory = try TemporaryDirectory()
        let script = "echo $$ > '\(directory.path(of: "new"))'; cd '\(directory.path)'; mv new number; sleep 1000"
        do {
            let loop = try EventLoop()
            _ = LimitedProcess(
                .init("/bin/sh", ["-c", script], environment: ["PATH": "/usr/bin:/bin"]), on: loop,
                timeLimit: .seconds(60), outputByteCountMax: 1, log: testLog
            ) { _ in }
            try await loop.run("it runs") { !directory.read("number").isEmpty }
        }
        let number = directory.read("number").trimmingCharacters(in: .whitespacesAndNewlines)
        // An uncollected zombie would hide the ends of other children from a wait for any child.
        try await eventually("it is dead and collected") { !FileManager.default.fileExists(atPath: "/proc/\(number)") }
    }
}

/// Returns whether a process runs, and is not a zombie: in a container an orphan may stay a zombie forever.
private func isRunning(_ process: Substring) -> Bool {
    let status = readText("/proc/\(process)/stat")
    guard let state = status.split(separator: ")").last?.split(separator: " ").first else { return false }
    return state != "Z" && state != "X"
}
