// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ServerEndToEnd {
    /// Replaces the process of a server while clients connect, and starts it with sockets of a service manager.
    struct UpgradeTests {
        private static let refused = ProcessExit.code(7)

        /// Opens a connection and sends a request without credentials, as often as it is told to.
        private func knock(_ url: String, _ authority: String) async throws -> ProgramResult {
            try await RunningProcess.run(
                try RepositoryPaths.tool("curl"),
                ["-sS", "--cacert", authority, "--max-time", "30", "-o", "/dev/null", "-w", "%{http_code}", url])
        }

        @Test func `no connection is refused while the program replaces its process, and nothing is lost`() async throws
        {
            let stack = try await TestStack()
            let process = stack.server.process.now
            func starts() -> Int { process.errorOutput.matches(of: /event=listening/).count }
            for number in 1...3 {
                let sent = try await stack.provider.send(stack.notification("before \(number)"))
                #expect(sent.status == 200)
                process.send(SIGUSR2)
                var knocks = 0
                while starts() <= number || knocks < 5 {
                    let result = try await knock("\(stack.server.url)/v1/stream", stack.server.authorityFile)
                    #expect(result.exit != Self.refused, "\(result.errorOutput)")
                    knocks += 1
                    guard process.exit == nil else { break }
                }
                #expect(process.exit == nil, "the process has another ID:\n\(process.transcript)")
                try await eventually("it answers an administrator", evidence: { process.transcript }) {
                    (try? await stack.server.admin.status()) != nil
                }
            }
            for number in 1...3 {
                try await stack.user.waitForEntry("it arrived") { $0.body == "before \(number)" }
            }
            #expect(try await stack.user.inbox().count == 3)
        }

        @Test func `without a new program, the present one starts again`() async throws {
            let files = try TemporaryDirectory()
            let admin = AdminSocket(path: files.path(of: "admin.sock"))
            let program = files.path(of: "posthornd")
            // Another process makes the copy: a file that this one has open for writing could be inherited by the
            // process of a parallel test, and the kernel would then refuse to start it (ETXTBSY).
            let copy = try await RunningProcess.run("/bin/cp", [RepositoryPaths.program("posthornd"), program])
            #expect(copy.exit == .code(0), "\(copy.errorOutput)")
            let process = try RunningProcess(
                program,
                [
                    "--data-directory", files.path(of: "data"), "--listen", "127.0.0.1:0", "--admin-socket", admin.path,
                ])
            func starts() -> Int { process.errorOutput.components(separatedBy: "event=listening").count - 1 }
            try await eventually("it listens", evidence: { process.transcript }) { starts() == 1 }
            try FileManager.default.removeItem(atPath: program)
            process.send(SIGUSR2)
            try await eventually("it listens again", evidence: { process.transcript }) { starts() == 2 }
            #expect(process.errorOutput.contains("event=replacement_failed"))
            #expect(try await admin.status().counts.accepted == 0)
        }

        @Test func `the server accepts from sockets that a service manager opened before`() async throws {
            let files = try TemporaryDirectory()
            let admin = AdminSocket(path: files.path(of: "admin.sock"))
            // The address is free until the first one of both processes opens it.
            let port = try FreePort.find()
            let process = try RunningProcess(
                try RepositoryPaths.tool("systemd-socket-activate"),
                [
                    "-l", "127.0.0.1:\(port)", RepositoryPaths.program("posthornd"), "--data-directory",
                    files.path(of: "data"), "--listen", "127.0.0.1:\(port)", "--admin-socket", admin.path, "--loops",
                    "3",
                ])
            try await eventually("it listens", evidence: { process.transcript }) {
                process.errorOutput.contains("Listening on 127.0.0.1:\(port)")
            }
            // The first connection starts the server, and waits until it accepts.
            let first = try await RunningProcess.run(
                try RepositoryPaths.tool("curl"),
                ["-sSk", "--max-time", "60", "-o", "/dev/null", "https://127.0.0.1:\(port)/"])
            #expect(first.exit == .code(0), "\(first.errorOutput)\n\(process.transcript)")
            #expect(process.errorOutput.contains("event=listening url=https://"))
            process.send(SIGTERM)
            try await eventually("it ends", evidence: { process.transcript }) { process.exit == .code(0) }
        }
    }
}
