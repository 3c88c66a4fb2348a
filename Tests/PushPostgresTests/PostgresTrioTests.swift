// SPDX-License-Identifier: Apache-2.0

import LoopTestSupport
import PushNet
import PushSQL
import TestSupport
import Testing

@testable import PushPostgres

/// A primary and two standbys.
@Suite(.tags(.slow), .needsPostgres) struct PostgresTrioTests {
    @Test func `a commit needs one standby, and waits without one`() async throws {
        let trio = try await PostgresTrio()
        var settings = PostgresSettings.test(schema: "public")
        let connection = try PostgresConnection(to: PostgresAddress(trio.address), settings: settings)
        try connection.execute("CREATE TABLE t(x bigint)")
        #expect(try connection.serverFacts().findings == [])
        try await checkRights(trio)
        try await trio.kill(1)
        try connection.execute("INSERT INTO t VALUES (1)")
        try await trio.kill(2)
        try await trio.waitForStandbys(0, of: 0)
        #expect(try connection.serverFacts().findings == [.noConnectedStandby])
        settings.answerTimeout = .milliseconds(300)
        let hasty = try PostgresConnection(to: PostgresAddress(trio.address), settings: settings)
        let error = #expect(throws: SQLError.self) { try hasty.execute("INSERT INTO t VALUES (2)") }
        #expect(error?.kind == .disconnected)
        #expect(try connection.number("SELECT count(*) FROM t") == 1)
        try await trio.start(2)
        try await trio.waitForStandbys(1, of: 0)
        try connection.execute("INSERT INTO t VALUES (3)")
        #expect(try connection.number("SELECT count(*) FROM t") == 3, "the commit that waited has taken place")
    }

    @Test func `other standbys are counted, and a slot or the feedback of a standby that keeps rows is found`()
        async throws
    {
        let trio = try await PostgresTrio()
        let connection = try PostgresConnection(to: PostgresAddress(trio.address), settings: .test(schema: "public"))
        _ = try await trio.sql("ALTER SYSTEM SET synchronous_standby_names = 's1'", on: 0)
        _ = try await trio.sql("SELECT pg_reload_conf()", on: 0)
        // A receiver of WAL that replays nothing is no standby, so only s2 counts.
        let folder = try TemporaryDirectory()
        let receiver = try trio.receiveLog(from: 0, into: folder)
        try await eventually("the receiver is connected", evidence: { receiver.transcript }) {
            try await trio.sql("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'", on: 0) == "3"
        }
        try await eventually("one standby is synchronous") {
            let facts = try connection.serverFacts()
            return facts.synchronousStandbyCount == 1 && facts.asynchronousStandbyCount == 1 && facts.findings == []
        }
        try await receiver.killNow()
        try await checkFeedback(trio, connection)
        try await trio.kill(2)
        try await eventually("the other standby is lost") {
            try connection.serverFacts().asynchronousStandbyCount == 0
        }
        #expect(try connection.serverFacts().synchronousStandbyCount == 1)
        let left = try connection.oldRowRetentions()
        #expect(left.map(\.owner) == [.slot(name: "s2", isActive: false)])
    }

    /// Lets s1 send its oldest transaction as feedback, and s2 by a slot.
    private func checkFeedback(_ trio: PostgresTrio, _ connection: PostgresConnection) async throws {
        _ = try await trio.sql("SELECT pg_create_physical_replication_slot('s2')", on: 0)
        _ = try await trio.sql("ALTER SYSTEM SET primary_slot_name = 's2'", on: 2)
        for standby in [1, 2] {
            _ = try await trio.sql("ALTER SYSTEM SET hot_standby_feedback = on", on: standby)
            _ = try await trio.sql("SELECT pg_reload_conf()", on: standby)
        }
        try await eventually("the standby and the slot keep rows") {
            let all = try connection.oldRowRetentions(transactionCountMax: -1).map(\.owner)
            return all.contains(.standby(name: "s1")) && all.contains(.slot(name: "s2", isActive: true))
        }
        #expect(try connection.oldRowRetentions() == [])
    }

    @Test func `after the loss of the primary, a pipeline continues on the promoted standby`() async throws {
        let trio = try await PostgresTrio()
        let settings = PostgresSettings.test(schema: "public")
        try PostgresConnection(to: PostgresAddress(trio.address), settings: settings).execute(PipelineHarness.tables)
        let harness = try PipelineHarness(address: trio.address, settings: settings)
        try await harness.waitForConnection()
        var next: Int64 = 0
        harness.reaction = { event in
            guard event == .connected || event == .synced(nil) else { return }
            harness.insert([next])
            harness.sync()
            next += 1
        }
        harness.reaction(.connected)
        try await harness.wait(for: .synced(nil), count: 50)
        try await trio.kill(0)
        try await harness.loop.run("the loss is reported") { harness.events.contains(.lost(.disconnected)) }
        let committedCount = harness.events.count { $0 == .synced(nil) }
        let best = try await trio.mostAdvanced(of: [1, 2])
        let other = 3 - best
        try await trio.promote(best, other: other)
        try await harness.wait(for: .synced(nil), count: committedCount + 10)
        harness.reaction = { _ in }
        try await harness.waitForAnswers()
        let rowCount = try #require(Int(try await trio.sql("SELECT count(*) FROM rows", on: best)))
        #expect(rowCount >= harness.events.count { $0 == .synced(nil) })
        #expect(rowCount <= Int(next))

        try await trio.join(0, primary: best)
        try await trio.waitForStandbys(2, of: best)
        let standby = try PostgresAddress(trio.address(of: 0))
        let refused = #expect(throws: SQLError.self) { try PostgresConnection(to: standby, settings: settings) }
        #expect(refused?.kind == .cannotOpen)
        var reading = settings
        reading.target = .any
        let reader = try PostgresConnection(to: standby, settings: reading)
        #expect(try reader.serverFacts().findings.first == .standby)
        let error = #expect(throws: SQLError.self) { try reader.execute("INSERT INTO parents VALUES (1)") }
        #expect(error?.kind == .readOnly)
    }

    /// Checks the facts that a role without the right to see other sessions can read.
    private func checkRights(_ trio: PostgresTrio) async throws {
        _ = try await trio.sql("CREATE ROLE \"Plain role\" LOGIN", on: 0)
        let address = try PostgresAddress(trio.address(of: 0, user: "Plain%20role"))
        let connection = try PostgresConnection(to: address, settings: .test(schema: "public"))
        let finding = try connection.serverFacts().findings.first
        #expect(finding == .hiddenStandbys(role: "\"Plain role\""))
        let remedy = #"GRANT pg_read_all_stats TO "Plain role""#
        #expect(finding?.description.hasSuffix("Run \(remedy).") == true)
        _ = try await trio.sql(remedy, on: 0)
        #expect(try connection.serverFacts().findings == [])
    }
}
