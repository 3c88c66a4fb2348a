// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ClusterFaults {
    /// Clocks of nodes and of PostgreSQL: docs/reference/cluster-failures.md.
    @Suite(.tags(.slow), .preloadsLibrary) struct PostgresClockTests {
        private let clock: FakeClock

        init() throws { clock = try FakeClock() }

        @Test func `clocks differ: above two seconds a warning, above thirty seconds the node is suspended`()
            async throws
        {
            let database = try await PostgresDatabase()
            let site = try await ServerSite(options: ServerSite.options(database.address, "--accept-patience", "5"))
            let server = try site.start(["/usr/bin/env"], environment: clock.environment)
            let url = try await server.url()
            let stream = try site.openStream(url)
            #expect(try await site.send("before", to: url) == 200)
            try await eventually("it is delivered") { stream.texts == ["before"] }
            #expect(try await site.problems()["clock-differs"] == nil)

            try clock.jump(to: "+10")
            try await logged("event=clock_differs milliseconds=", server)
            #expect(try await site.problems()["clock-differs"] != nil)
            #expect(try await server.metric("posthorn_clock_difference_seconds") ?? 0 > 5)
            #expect(try await site.send("ahead", to: url) == 200)
            try await eventually("it is delivered") { stream.texts == ["before", "ahead"] }

            try clock.jump(to: "-40")
            try await logged("event=clock_suspends milliseconds=-", server)
            #expect(try await site.send("suspended", to: url) == 503)
            #expect(try await server.metric(#"posthorn_suspended{shard="0"}"#) == 1)
            let problems = try await site.problems()
            #expect(problems["clock-differs"]?.contains("neither accepts nor delivers") == true, "\(problems)")
            #expect(problems["no-lease"] == nil && stream.texts == ["before", "ahead"], "\(problems)")

            try clock.jump(to: "+0")
            try await logged("event=clock_agrees milliseconds=", server)
            try await eventually("it accepts again") { try await site.send("after", to: url) == 200 }
            try await eventually("it is delivered", evidence: { stream.process.transcript }) {
                stream.texts.contains("after")
            }
            #expect(try await server.metric(#"posthorn_suspended{shard="0"}"#) == 0)
            #expect(stream.process.exit == nil)
            try await server.stop()
        }

        @Test func `clock of PostgreSQL set: a wrong time makes no numbers, and answers wait only for heartbeats`()
            async throws
        {
            let postgres = try await PostgresServer(environment: clock.environment)
            let site = try await ServerSite(options: ServerSite.options(postgres.address))
            let server = try site.start()
            let url = try await server.url()
            #expect(try await site.send("before", to: url) == 200)

            try clock.jump(to: "+3600")
            try await logged("event=clock_suspends milliseconds=-", server)
            #expect(try await site.send("suspended", to: url) == 503)
            try clock.jump(to: "+0")
            try await logged("event=clock_agrees milliseconds=", server)
            try await eventually("it accepts again") { try await site.send("right", to: url) == 200 }
            #expect(try await site.problems()["numbers-ahead"] == nil)

            try clock.jump(to: "+25")
            try await logged("event=clock_differs milliseconds=-", server)
            #expect(try await site.send("differs", to: url) == 200)
            try clock.jump(to: "+0")
            try await eventually("the clocks agree") { try await site.problems()["clock-differs"] == nil }
            #expect(try await site.problems()["numbers-ahead"] != nil)
            // Without the ceilings of nodes, the answer would wait for the clock, longer than `accept_patience`.
            #expect(try await site.send("after", to: url) == 200)
            try await server.stop()
        }

        private func logged(_ text: String, _ server: PushServer) async throws {
            try await eventually("the log has \(text)", evidence: { server.process.transcript }) {
                server.process.errorOutput.contains(text)
            }
        }

        @Test func `long transaction: after ten minutes it is a problem until it ends`() async throws {
            let postgres = try await PostgresServer(environment: clock.environment)
            let site = try await ServerSite(options: ServerSite.options(postgres.address))
            let server = try site.start(["/usr/bin/env"], environment: clock.environment)
            _ = try await server.url()
            let transaction = try await postgres.openTransaction()
            try clock.jump(to: "+540")
            try await eventually("the age is shown") {
                let status = try await site.posthorn("cluster", "status", "--json").output
                let age = status.firstMatch(of: /"oldest_transaction_seconds" ?: ?([0-9]+)/).flatMap { Int($0.1) }
                return age.map { $0 >= 540 } ?? false
            }
            #expect(try await site.problems()["old-transaction"] == nil)
            try clock.jump(to: "+660")
            try await eventually("it is a problem") { try await site.problems()["old-transaction"] != nil }
            transaction.endInput()
            try await transaction.waitForExit()
            try await eventually("it is no problem") { try await site.problems()["old-transaction"] == nil }
            try await server.stop()
        }
    }
}
