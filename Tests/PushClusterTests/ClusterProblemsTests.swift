// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushPostgres
import Testing

@testable import PushCluster

struct ClusterProblemsTests {
    private static func node(
        _ number: Int, isLive: Bool = true, draining: ClusterAPI.Node.Draining = .no, isLinkUp: Bool? = true,
        clockDifference: Int64? = nil
    ) -> ClusterAPI.Node {
        ClusterAPI.Node(
            name: "n\(number)", number: number, instance: "1", version: "1", address: "n\(number):1", isLive: isLive,
            heartbeatAgeMilliseconds: 0, draining: draining, isLinkUp: isLinkUp,
            clockDifferenceMilliseconds: clockDifference)
    }

    private static func codes(_ change: (inout ClusterProblems) -> Void) -> [String] {
        let list = list(change)
        for problem in list { #expect(problem.text.hasSuffix("."), "\(problem)") }
        return list.map(\.code)
    }

    private static func list(_ change: (inout ClusterProblems) -> Void) -> [ClusterAPI.Problem] {
        let facts = PostgresServerFacts(
            version: 150_018, usesFsync: true, writesFullPages: true, synchronousCommit: "on",
            synchronousStandbyNames: "ANY 1 (s1, s2)", synchronousStandbyCount: 2, asynchronousStandbyCount: 0,
            role: "posthorn", server: "db1.internal:5432", usesTLS: true, isLocal: false, isInRecovery: false)
        var problems = ClusterProblems(
            node: "n1", connectionProblem: nil, hasLease: true, hasLinks: true,
            nodes: [node(1, isLinkUp: nil, clockDifference: 2_000), node(2), node(3)],
            servers: [
                ServerState(
                    facts: facts, liveNodes: ["n1", "n2", "n3"], oldestTransactionSeconds: 600, oldRetentions: [],
                    waitingCount: 0)
            ])
        change(&problems)
        return problems.list
    }

    @Test func `a cluster that survives every single loss has no problem`() { #expect(Self.codes { _ in } == []) }

    @Test func `each problem has one code`() {
        #expect(Self.codes { $0.nodes = [Self.node(1)] } == ["too-few-nodes"])
        #expect(Self.codes { $0.nodes[1] = Self.node(2, isLive: false, isLinkUp: false) } == ["node-not-live"])
        #expect(Self.codes { $0.nodes[1] = Self.node(2, isLinkUp: false) } == ["link-down"])
        #expect(Self.codes { $0.nodes[2] = Self.node(3, clockDifference: -2_001) } == ["clock-differs"])
        #expect(Self.codes { $0.servers[0]?.facts.synchronousStandbyCount = 1 } == ["one-connected-standby"])
        #expect(Self.codes { $0.servers[0]?.facts.synchronousStandbyCount = 0 } == ["no-connected-standby"])
        #expect(Self.codes { $0.servers[0]?.facts.synchronousStandbyCount = nil } == ["hidden-standbys"])
        #expect(Self.codes { $0.servers[0]?.facts.usesTLS = false } == ["no-tls"])
        #expect(Self.codes { $0.servers[0]?.oldestTransactionSeconds = 601 } == ["old-transaction"])
        let slot = PostgresRowRetention(owner: .slot(name: "old", isActive: true), transactionCount: 20_000_000)
        #expect(Self.codes { $0.servers[0]?.oldRetentions = [slot] } == ["old-slot"])
        let standby = PostgresRowRetention(owner: .standby(name: "s2"), transactionCount: 20_000_000)
        #expect(Self.codes { $0.servers[0]?.oldRetentions = [standby] } == ["old-feedback"])
        #expect(Self.codes { $0.hasLease = false } == ["no-lease"])
        #expect(Self.codes { $0.numbersAheadMilliseconds = 510_000 } == ["numbers-ahead"])
    }

    @Test func `one synchronous standby is enough while another standby can replace it`() {
        for others in [1, 2] {
            let codes = Self.codes {
                $0.servers[0]?.facts.synchronousStandbyCount = 1
                $0.servers[0]?.facts.asynchronousStandbyCount = others
            }
            #expect(codes == [])
        }
    }

    @Test func `a slot without a receiver is named with the command that removes it`() {
        let slot = PostgresRowRetention(owner: .slot(name: "old", isActive: false), transactionCount: 7)
        let text = Self.list { $0.servers[0]?.oldRetentions = [slot] }.first?.text
        #expect(text?.hasSuffix("or run SELECT pg_drop_replication_slot('old').") == true, "\(text ?? "")")
    }

    @Test func `a problem of PostgreSQL has the same code in the status as in the log`() {
        let findings: [PostgresFinding] = [
            .oldVersion(1), .standby, .noFsync, .noFullPageWrites, .noSynchronousStandby, .noConnectedStandby,
            .hiddenStandbys(role: "posthorn"), .weakCommit("off"), .noTLS,
        ]
        for finding in findings { #expect(finding.problemCode.rawValue == finding.code) }
    }

    @Test func `nodes with the same address are named once, instead of their links`() {
        let problems = Self.list {
            $0.nodes[1] = Self.node(2, isLinkUp: false)
            $0.nodes[2] = Self.node(3, isLinkUp: false)
            $0.nodes[2].address = "n2:1"
        }
        #expect(problems.map(\.code) == ["same-address"])
        #expect(problems.first?.text.hasPrefix("n2 and n3 have the same address.") == true)
        let link = Self.list { $0.nodes[2] = Self.node(3, isLinkUp: false) }.first
        #expect(link?.text == "n1 has no link to n3. If n3 runs, check its [cluster] address, and the network to n3:1.")
    }

    @Test func `nodes that do not use a shard, and a shard that does not answer, are named`() {
        let unused = Self.list {
            $0.servers += $0.servers
            $0.servers[1]?.liveNodes = ["n1", "n2"]
        }
        #expect(unused.map(\.code) == ["shard-not-used"])
        #expect(unused.first?.text.hasPrefix("Shard 1: n3 does not use it.") == true)
        #expect(Self.codes { $0.servers = [nil] } == ["no-answer"])
        // `connectionProblem` describes a shard that cannot be reached.
        #expect(Self.codes { $0.servers.append(nil) } == [])
        let silent = Self.list {
            $0.servers.append(nil)
            $0.reachableShards = [0, 1]
        }
        #expect(silent.map(\.code) == ["no-answer"])
        #expect(silent.first?.text == "Shard 1: PostgreSQL does not answer n1. Check its primary.")
    }

    @Test func `a drained node is no problem while two others serve`() {
        #expect(Self.codes { $0.nodes[1].draining = .drained } == [])
        #expect(
            Self.codes {
                $0.nodes[1].draining = .drained
                $0.nodes[2].draining = .draining
            } == ["too-few-nodes"])
    }

    @Test func `without PostgreSQL, nothing is said about the heartbeats of others`() {
        let codes = Self.codes {
            ($0.connectionProblem, $0.hasLease, $0.servers) = ("connection refused.", false, [])
            $0.nodes = [Self.node(1, isLive: false, isLinkUp: nil), Self.node(2, isLive: false)]
        }
        #expect(codes == ["not-connected"])
    }
}
