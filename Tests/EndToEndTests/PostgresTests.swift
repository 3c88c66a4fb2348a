// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ServerEndToEnd {
    /// A server whose store is in PostgreSQL.
    @Suite(.needsPostgres) struct PostgresTests {
        private func send(_ texts: [String], _ stack: TestStack) async throws {
            for text in texts {
                let sent = try await stack.provider.send(stack.notification(text))
                #expect(sent.status == 200, "\(text): \(sent)")
            }
        }

        private func wait(for texts: [String], _ stack: TestStack) async throws {
            try await eventually("\(texts.count) notifications are in the inbox") {
                try await Set(stack.user.inbox(limit: 1000).map(\.body)).isSuperset(of: texts)
            }
            #expect(try await stack.user.inbox(limit: 1000).map(\.body).count == texts.count)
        }

        @Test func `notifications reach a device, and wait in PostgreSQL while it is away`() async throws {
            let database = try await PostgresDatabase()
            let stack = try await TestStack(serverOptions: ["--store-url", database.address])
            let near = (1...20).map { "near \($0)" }
            try await send(near, stack)
            try await wait(for: near, stack)
            try await stack.user.agent.killNow()
            let away = (1...20).map { "away \($0)" }
            try await send(away, stack)
            #expect(try await database.sql("SELECT count(*) FROM posthorn.pending") == "20")
            try await stack.user.startAgent()
            try await wait(for: near + away, stack)
            try await eventually("the rows are deleted") {
                try await database.sql("SELECT count(*) FROM posthorn.pending") == "0"
            }
        }

        @Test func `a killed server loses nothing`() async throws {
            let database = try await PostgresDatabase()
            let stack = try await TestStack(serverOptions: ["--store-url", database.address])
            try await stack.user.agent.killNow()
            let texts = (1...50).map(String.init)
            try await send(texts, stack)
            try await stack.server.process.killNow()
            try await stack.server.start()
            try await stack.user.startAgent()
            try await wait(for: texts, stack)
        }

        @Test func `while PostgreSQL is down, notifications wait, and are accepted when it is back`() async throws {
            let postgres = try await PostgresServer()
            let stack = try await TestStack(serverOptions: ["--store-url", postgres.address, "--accept-patience", "60"])
            try await send(["before"], stack)
            try await postgres.kill()
            async let sent: Void = send(["during"], stack)
            try await postgres.start()
            try await sent
            try await send(["after"], stack)
            try await wait(for: ["before", "during", "after"], stack)
        }

        @Test func `a backup is refused and leaves no file, and doctor names the problems of PostgreSQL`() async throws
        {
            let database = try await PostgresDatabase()
            let server = try await InstalledServer(options: ["--store-url", database.address])
            let environment = ["POSTHORN_ADMIN_SOCKET": server.admin.path]
            let path = server.files.path(of: "bk")
            let program = RepositoryPaths.program("posthorn")
            let backup = try await RunningProcess.run(program, ["backup", path], environment: environment)
            #expect(backup.exit == .code(1), "\(backup)")
            #expect(backup.errorOutput.contains("the data is in PostgreSQL. Back up its database"), "\(backup)")
            #expect(!FileManager.default.fileExists(atPath: "\(path).partial"))
            let doctor = try await RunningProcess.run(program, ["doctor", "--server"], environment: environment)
            #expect(doctor.output.contains("PostgreSQL has no synchronous standby"), "\(doctor)")
            #expect(!doctor.output.contains("posthorn backup"), "\(doctor)")
        }
    }
}
