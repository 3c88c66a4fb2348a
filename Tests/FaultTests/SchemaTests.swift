// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension Faults {
    /// Kills a server while it creates its database, and starts one on a database of a later version.
    struct SchemaTests {
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

        @Test(.tags(.slow))
        func `a server that is killed at random writes of its first start completes it at the next start`() async throws
        {
            let walk = ["pwrite64", "fdatasync"].flatMap { call in
                (1...(call == "pwrite64" ? 60 : 8)).map { Injection(call, "signal=KILL", when: $0) }
            }
            for (index, injection) in Faults.steps(walk, count: 12).enumerated() {
                let data = site.files.path(of: "first-\(index)")
                // One crash happens at each of three starts.
                for _ in 0..<3 {
                    let server = try site.start(try injection.wrapper(), on: data)
                    if try await server.urlIfStarted() != nil { try await server.process.killNow() }
                }
                let server = try site.start(on: data)
                try await server.waitUntilListening()
                try await server.stop()
                let found = try await sqlite(
                    "\(data)/posthorn.sqlite",
                    "SELECT count(*) FROM topics; PRAGMA integrity_check; PRAGMA user_version;")
                #expect(found == "0\nok\n1\n", "\(injection.testDescription): \(found)")
                try FileManager.default.removeItem(atPath: data)
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
