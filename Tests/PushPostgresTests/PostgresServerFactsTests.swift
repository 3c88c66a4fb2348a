// SPDX-License-Identifier: Apache-2.0

import PushPostgres
import TestSupport
import Testing

@Suite struct PostgresServerFactsTests {
    private static let good = PostgresServerFacts(
        version: 150_018, usesFsync: true, writesFullPages: true, synchronousCommit: "on",
        synchronousStandbyNames: "ANY 1 (s1, s2)", synchronousStandbyCount: 2, asynchronousStandbyCount: 0,
        role: "posthorn", server: "db1.internal:5432", usesTLS: true, isLocal: false, isInRecovery: false)

    private static func findings(_ change: (inout PostgresServerFacts) -> Void) -> [PostgresFinding] {
        var facts = good
        change(&facts)
        return facts.findings
    }

    @Test func `a safe server has no findings`() {
        #expect(Self.good.findings == [])
        #expect(Self.findings { $0.synchronousCommit = "remote_apply" } == [])
        #expect(Self.findings { ($0.usesTLS, $0.isLocal) = (false, true) } == [])
    }

    @Test func `each problem has one finding`() {
        #expect(Self.findings { $0.version = 140_012 } == [.oldVersion(140_012)])
        #expect(Self.findings { $0.version = 150_000 } == [])
        #expect(Self.findings { $0.usesFsync = false } == [.noFsync])
        #expect(Self.findings { $0.writesFullPages = false } == [.noFullPageWrites])
        #expect(Self.findings { $0.isInRecovery = true } == [.standby])
        #expect(Self.findings { $0.synchronousStandbyNames = " " } == [.noSynchronousStandby])
        #expect(Self.findings { $0.synchronousStandbyCount = 0 } == [.noConnectedStandby])
        #expect(Self.findings { $0.synchronousStandbyCount = nil } == [.hiddenStandbys(role: "posthorn")])
        #expect(Self.findings { $0.usesTLS = false } == [.noTLS])
        for value in ["off", "local", "remote_write"] {
            #expect(Self.findings { $0.synchronousCommit = value } == [.weakCommit(value)])
        }
    }

    @Test func `fatal findings come first, and each says what to do`() {
        let all = Self.findings {
            $0 = PostgresServerFacts(
                version: 130_001, usesFsync: false, writesFullPages: false, synchronousCommit: "off",
                synchronousStandbyNames: "", synchronousStandbyCount: 0, asynchronousStandbyCount: 0,
                role: "posthorn", server: "db1.internal:5432", usesTLS: false, isLocal: false, isInRecovery: true)
        }
        #expect(all.map(\.isFatal) == [true, true, true, true, false, false, false])
        #expect(Set(all.map(\.code)).count == all.count)
        #expect(all.first?.description.contains("13.1") == true)
        for finding in all { #expect(finding.description.hasSuffix("."), "\(finding)") }
    }

    @Test(.needsPostgres) func `the facts of the tests' server are read`() async throws {
        let fixture = try await PostgresFixture()
        let facts = try fixture.connect().serverFacts()
        #expect(facts.version >= 150_000 && facts.version < 160_000)
        #expect(facts.findings == [.noSynchronousStandby])
        #expect(facts.isLocal && !facts.usesTLS)
        #expect(facts.synchronousStandbyCount == 0 && facts.asynchronousStandbyCount == 0)
        #expect(facts.server.hasPrefix("/") && facts.server.hasSuffix(":5432"))
    }

    @Test(.needsPostgres)
    func `an inactive slot that keeps rows is found at any age, and one without rows is not`()
        async throws
    {
        let server = try await PostgresServer(configuration: ["wal_level = logical"])
        let connection = try PostgresConnection(to: PostgresAddress(server.address), settings: .test(schema: "public"))
        _ = try await server.sql("SELECT pg_create_physical_replication_slot('empty', true)")
        #expect(try connection.oldRowRetentions(transactionCountMax: -1) == [])
        _ = try await server.sql("SELECT pg_create_logical_replication_slot('left_behind', 'pgoutput')")
        let found = try connection.oldRowRetentions()
        #expect(found.map(\.owner) == [.slot(name: "left_behind", isActive: false)])
        // A role without rights sees the slot, too.
        _ = try await server.sql("CREATE ROLE plain LOGIN")
        let address = try PostgresAddress(server.address(user: "plain"))
        let plain = try PostgresConnection(to: address, settings: .test(schema: "public"))
        #expect(try plain.oldRowRetentions().map(\.owner) == found.map(\.owner))
        _ = try await server.sql("SELECT pg_drop_replication_slot('left_behind')")
        #expect(try connection.oldRowRetentions() == [])
    }

    @Test(.needsPostgres) func `an unsafe configuration is found`() async throws {
        let server = try await PostgresServer(configuration: [
            "fsync = off", "full_page_writes = off", "synchronous_commit = local",
            "synchronous_standby_names = 'ANY 1 (s1)'",
        ])
        let connection = try PostgresConnection(to: PostgresAddress(server.address), settings: .test(schema: "public"))
        let findings = try connection.serverFacts().findings
        #expect(findings == [.noFsync, .noFullPageWrites, .noConnectedStandby, .weakCommit("local")])
    }
}
