// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension Faults {
    /// Starts a new server on a database of an earlier version, and an old server on a later one.
    struct MigrationCrashTests {
        private let site: ServerSite
        private let database: String

        init() async throws {
            site = try await ServerSite()
            database = "\(site.data)/posthorn.sqlite"
        }

        private func sqlite(_ path: String, _ sql: String) async throws -> String {
            try await RunningProcess.run(try RepositoryPaths.tool("sqlite3"), ["-bail", path], input: sql)
                .succeeded().output
        }

        /// Replaces the site's database with one of an earlier version.
        private func goBack(to version: Int) async throws {
            try FileManager.default.removeItem(atPath: database)
            let steps = EarlierSchema.steps.prefix(version).map(\.description)
            let sql = ["PRAGMA journal_mode = WAL;", steps[0], EarlierSchema.rows.description] + steps.dropFirst()
            _ = try await sqlite(database, sql.joined(separator: "\n"))
        }

        @Test(.tags(.slow), arguments: EarlierSchema.steps.indices.map { $0 + 1 })
        func `a server that is killed at random writes of an upgrade completes it at the next start`(version: Int)
            async throws
        {
            try await goBack(to: version)
            let walk = ["pwrite64", "fdatasync"].flatMap { call in
                (1...(call == "pwrite64" ? 60 : 8)).map { Injection(call, "signal=KILL", when: $0) }
            }
            let done = "SELECT count(*) FROM pending; SELECT count(*) FROM topics; PRAGMA integrity_check;"
            for (index, injection) in Faults.steps(walk, count: 6).enumerated() {
                let copy = try site.copyData("case-\(index)")
                // One crash happens at each of three starts.
                for _ in 0..<3 {
                    let server = try site.start(try injection.wrapper(), on: copy)
                    if try await server.urlIfStarted() != nil { try await server.process.killNow() }
                }
                let server = try site.start(on: copy)
                try await server.waitUntilListening()
                try await server.stop()
                let found = try await sqlite("\(copy)/posthorn.sqlite", done)
                #expect(found == "1\n2\nok\n", "\(injection.testDescription): \(found)")
                try FileManager.default.removeItem(atPath: copy)
            }
        }

        @Test func `a server refuses the database of a later version, and does not change it`() async throws {
            _ = try await sqlite(database, "PRAGMA user_version = 99;")
            let before = try Data(contentsOf: URL(fileURLWithPath: database))
            let server = try site.start()
            #expect(try await server.process.waitForExit() == .code(74), "\(server.process.transcript)")
            #expect(server.process.errorOutput.contains("schema version 99"), "\(server.process.transcript)")
            #expect(server.process.errorOutput.contains("Start the newer version"), "\(server.process.transcript)")
            let check = try await site.posthornd("--check")
            #expect(check.exit == .code(74) && check.errorOutput.contains("schema version 99"), "\(check)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: database)) == before)
        }
    }
}
