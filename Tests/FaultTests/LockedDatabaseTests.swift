// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension Faults {
    /// Checks a server whose database another program has locked, or tries to lock.
    struct LockedDatabaseTests {
        private let site: ServerSite

        init() async throws { site = try await ServerSite() }

        private func sqlite() throws -> RunningProcess {
            try RunningProcess(
                try RepositoryPaths.tool("sqlite3"), ["-bail", "\(site.data)/posthorn.sqlite"], hasInput: true)
        }

        @Test func `a database that another program has locked stops the start with a remedy`() async throws {
            let other = try sqlite()
            try other.write("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; SELECT 'held';\n")
            _ = try await other.outputLine(1)
            let server = try site.start()
            #expect(try await server.process.waitForExit() == .code(75), "\(server.process.transcript)")
            #expect(server.process.errorOutput.contains("Another process has \(site.data)/posthorn.sqlite open"))
            for arguments in ["--check", "--restore"] {
                let words = arguments == "--check" ? [arguments] : [arguments, site.data]
                let result = try await RunningProcess.run(
                    RepositoryPaths.program("posthornd"), ["--data-directory", site.data] + words)
                #expect(result.exit != .code(0), "\(arguments)")
            }
            try other.write("ROLLBACK;\n.quit\n")
            try await other.waitForExit()
            #expect(try await site.waiting() == [])
        }

        @Test func `another program cannot lock a running server's database, and does not disturb it`() async throws {
            let server = try site.start()
            let url = try await server.url()
            let other = try sqlite()
            try other.write("DELETE FROM pending;\n")
            other.endInput()
            #expect(try await other.waitForExit() != .code(0))
            #expect(other.errorOutput.contains("locked"), "\(other.transcript)")
            #expect(try await site.send("text", to: url) == 200)
            try await server.stop()
            #expect(try await site.waiting() == ["text"])
        }
    }
}
