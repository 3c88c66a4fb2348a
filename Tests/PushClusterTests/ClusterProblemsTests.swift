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
        let facts = PostgresServerFacts(
            version: 150_018, usesFsync: true, writesFullPages: true, synchronousCommit: "on",
            synchronousStandbyNames: "ANY 1 (s1, s2)", synchronousStandbyCount: 2, usesTLS: true, isLocal: false,
            isInRecovery: false)
        var problems = ClusterProblems(
            node: "n1", connectionProblem: nil, hasLease: true, hasLinks: true,
            nodes: [node(1, isLinkUp: nil, clockDifference: 2_000), node(2), node(3)],
            servers: [ServerState(facts: facts, oldestTransactionSeconds: 600)])
        change(&problems)
        for problem in problems.list { #expect(problem.text.hasSuffix("."), "\(problem)") }
        return problems.list.map(\.code)
    }

    @Test func `a cluster that survives every single loss has no problem`() { #expect(Self.codes { _ in } == []) }

    @Test func `each problem has one code`() {
        #expect(Self.codes { $0.nodes = [Self.node(1)] } == ["too-few-nodes"])
        #expect(Self.codes { $0.nodes[1] = Self.node(2, isLive: false, isLinkUp: false) } == ["node-not-live"])
        #expect(Self.codes { $0.nodes[1] = Self.node(2, isLinkUp: false) } == ["link-down"])
        #expect(Self.codes { $0.nodes[2] = Self.node(3, clockDifference: -2_001) } == ["clock-differs"])
        #expect(Self.codes { $0.servers[0]?.facts.synchronousStandbyCount = 1 } == ["one-connected-standby"])
        #expect(Self.codes { $0.servers[0]?.facts.synchronousStandbyCount = 0 } == ["no-connected-standby"])
        #expect(Self.codes { $0.servers[0]?.facts.usesTLS = false } == ["no-tls"])
        #expect(Self.codes { $0.servers[0]?.oldestTransactionSeconds = 601 } == ["old-transaction"])
        #expect(Self.codes { $0.hasLease = false } == ["no-lease"])
        #expect(Self.codes { $0.numbersAheadMilliseconds = 510_000 } == ["numbers-ahead"])
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
            ($0.connectionProblem, $0.hasLease, $0.servers) = ("connection refused", false, [])
            $0.nodes = [Self.node(1, isLive: false, isLinkUp: nil), Self.node(2, isLive: false)]
        }
        #expect(codes == ["not-connected"])
    }
}
