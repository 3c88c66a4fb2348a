// SPDX-License-Identifier: Apache-2.0

internal import TestSupport
internal import Testing

extension AdminEndToEnd {
    /// The command `posthorn cluster remove` at three servers that share a database in PostgreSQL.
    @Suite(.needsPostgres) struct ClusterRemovalTests {
        private struct Status: Decodable {
            struct Node: Decodable {
                // swift-format-ignore: AlwaysUseLowerCamelCase
                let link_up: Bool?
            }

            let nodes: [Node]
        }

        private func linkCount(_ cluster: TestCluster, at node: Int) async throws -> Int {
            try await cluster.posthorn("cluster", "status", "--json", at: node).decoded(Status.self).nodes.filter {
                $0.link_up == true
            }.count
        }

        private func send(_ texts: [String], _ provider: APNsProvider, _ stack: TestStack) async throws -> [Int] {
            var refusals: [Int] = []
            for text in texts {
                let status = try await provider.send(stack.notification(text)).status
                if status != 200 { refusals.append(status) }
            }
            return refusals
        }

        @Test func `the other nodes get certificates of a new authority, and lose no notification meanwhile`()
            async throws
        {
            let cluster = try await TestCluster()
            let stack = try await TestStack(server: cluster.nodes[0])
            let provider = try await cluster.provider(of: stack.target, at: 1)
            try await eventually("all links are up") { try await linkCount(cluster, at: 0) == 2 }
            let live = try await cluster.posthorn("cluster", "remove", "n3", at: 0)
            #expect(live.exit != .code(0) && live.errorOutput.contains("had a heartbeat"), "\(live)")
            let secrets =
                "SELECT md5(string_agg(sealed, '' ORDER BY name)) FROM posthorn.secrets WHERE name LIKE 'links%'"
            let before = try await cluster.database.sql(secrets)
            let unknown = try await cluster.posthorn("cluster", "remove", "n9", at: 0)
            #expect(unknown.exit == .code(4), "\(unknown)")
            #expect(try await cluster.database.sql(secrets) == before)
            try await cluster.nodes[2].process.killNow()
            _ = try await cluster.database.sql(
                "UPDATE posthorn.nodes SET seen_at = seen_at - interval '1 minute' WHERE name = 'n3'")
            let texts = (1...60).map { "during \($0)" }
            async let refusals = send(texts, provider, stack)
            let removed = try await cluster.posthorn("cluster", "remove", "n3", at: 0)
            #expect(removed.exit == .code(0), "\(removed)")
            #expect(removed.output.contains("posthorn cluster rotate-cluster-key"), "\(removed)")
            #expect(try await refusals == [])
            #expect(try await cluster.database.sql(secrets) != before)
            for node in 0..<2 {
                #expect(cluster.nodes[node].process.now.errorOutput.contains("cluster_authority_read"))
                try await eventually("the link is up again") { try await linkCount(cluster, at: node) == 1 }
            }
            try await eventually("all notifications are in the inbox") {
                try await Set(stack.user.inbox(limit: 1000).map(\.body)).isSuperset(of: texts)
            }
            #expect(try await stack.user.inbox(limit: 1000).map(\.body).count == texts.count)
            // With the key of the cluster and access to PostgreSQL, the machine joins again.
            try await cluster.nodes[2].start()
            try await eventually("all links are up") { try await linkCount(cluster, at: 2) == 2 }
        }
    }
}
