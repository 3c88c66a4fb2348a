// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension AdminEndToEnd {
    /// The commands `posthorn cluster` that replace keys, at three servers that share a database in PostgreSQL.
    @Suite(.needsPostgres) struct ClusterKeyRotationTests {
        private func send(_ token: String, _ target: ProviderTarget, _ cluster: TestCluster, at node: Int) async throws
            -> Int
        {
            let payload = SentNotification(token: token, payload: #"{"aps":{"alert":"x"}}"#)
            return try await cluster.provider(of: target, at: node).send(payload).status
        }

        private func tokenKeys(_ cluster: TestCluster, _ node: Int) -> [Substring] {
            readText(cluster.nodes[node].files.path(of: "data/token.keys")).split(separator: "\n")
        }

        // MARK: Keys of device tokens

        @Test(.tags(.slow))
        func `device tokens from before and after a rotation are valid at all nodes, also after a restart`()
            async throws
        {
            let cluster = try await TestCluster()
            let target = try await cluster.nodes[0].addApp("com.example.Rotation")
            let before = try await PlainDevice(cluster.nodes[0], target)
            let old = tokenKeys(cluster, 0)
            let rotated = try await cluster.posthorn("cluster", "rotate-token-key", at: 1)
            #expect(rotated.exit == .code(0) && rotated.output.contains("tokens of 2 keys"), "\(rotated)")
            let keys = tokenKeys(cluster, 0)
            #expect(keys.count == 2 && keys.last == old.first && keys.first != old.first)
            #expect((1...2).allSatisfy { tokenKeys(cluster, $0) == keys })
            let after = try await PlainDevice(cluster.nodes[1], target)
            for node in 0..<3 {
                #expect(try await send(before.token, target, cluster, at: node) == 200, "node \(node)")
                #expect(try await send(after.token, target, cluster, at: node) == 200, "node \(node)")
                #expect(try await send(String(repeating: "0", count: 64), target, cluster, at: node) == 400)
            }
            try await cluster.nodes[2].process.killNow()
            #expect(try await cluster.posthorn("cluster", "rotate-token-key", at: 0).exit == .code(0))
            try await cluster.nodes[2].start()
            #expect(tokenKeys(cluster, 2).count == 3)
            #expect(try await send(before.token, target, cluster, at: 2) == 200)
        }

        @Test(.tags(.slow))
        func `node cut off during a rotation of token keys: it answers 503 and never 400 for a token of the new key`()
            async throws
        {
            let cluster = try await TestCluster()
            let target = try await cluster.nodes[0].addApp("com.example.CutOff")
            try await cluster.cutOff(2)
            let rotated = try await cluster.posthorn("cluster", "rotate-token-key", at: 0)
            #expect(rotated.exit == .code(0), "\(rotated)")
            let device = try await PlainDevice(cluster.nodes[0], target)
            #expect(try await send(device.token, target, cluster, at: 2) == 503)
            try cluster.heal(2)
            var statuses: Set<Int> = []
            try await eventually("the node has read the key") {
                let status = try await send(device.token, target, cluster, at: 2)
                statuses.insert(status)
                return status == 200
            }
            #expect(statuses.isSubset(of: [200, 503]))
        }

        @Test func `the keys of a server without a cluster are not rotated`() async throws {
            let server = try await InstalledServer()
            let posthorn = RepositoryPaths.program("posthorn")
            for command in ["rotate-token-key", "rotate-cluster-key"] {
                let result = try await RunningProcess.run(
                    posthorn, ["cluster", command, "--socket", server.admin.path])
                #expect(result.exit == .code(4), "\(result)")
            }
            let alone = try await InstalledServer(options: ["--store-url", try await PostgresDatabase().address])
            let result = try await RunningProcess.run(
                posthorn, ["cluster", "rotate-token-key", "--socket", alone.admin.path])
            #expect(result.exit != .code(0) && result.errorOutput.contains("no address in [cluster]"), "\(result)")
        }

        // MARK: The key of the cluster

        private func copyNextKey(_ cluster: TestCluster, from node: Int, to others: [Int]) throws {
            for other in others {
                try FileManager.default.copyItem(
                    atPath: cluster.keyFile(node) + ".next", toPath: cluster.keyFile(other) + ".next")
            }
        }

        private func rotate(_ cluster: TestCluster, _ option: String? = nil, at node: Int) async throws
            -> ProgramResult
        {
            guard let option else { return try await cluster.posthorn("cluster", "rotate-cluster-key", at: node) }
            return try await cluster.posthorn("cluster", "rotate-cluster-key", option, at: node)
        }

        /// Waits until the nodes have found their copies of the new key.
        private func waitForCopies(_ cluster: TestCluster, at node: Int, lacking names: String = "All nodes have")
            async throws
        {
            try await eventually("the copies are found") {
                try await rotate(cluster, at: node).output.contains(names)
            }
        }

        private func sealed(_ cluster: TestCluster) async throws -> String {
            try await cluster.database.sql("SELECT name, md5(sealed) FROM posthorn.secrets ORDER BY name")
        }

        @Test(.tags(.slow))
        func `the key of the cluster is replaced once all nodes have the new one`() async throws {
            let cluster = try await TestCluster()
            let target = try await cluster.nodes[0].addApp("com.example.Key")
            let device = try await PlainDevice(cluster.nodes[0], target)
            let old = readText(cluster.keyFile(0))
            let begun = try await rotate(cluster, at: 0)
            #expect(begun.exit == .code(0) && begun.output.contains("n2, n3"), "\(begun)")
            let next = readText(cluster.keyFile(0) + ".next")
            #expect(next.count == 65 && next != old)
            let early = try await rotate(cluster, "--complete", at: 0)
            #expect(early.exit != .code(0) && early.errorOutput.contains("n2, n3"), "\(early)")
            let without = try await rotate(cluster, at: 1)
            #expect(without.exit != .code(0) && without.errorOutput.contains("Copy its cluster.key.next"), "\(without)")
            try copyNextKey(cluster, from: 0, to: [1])
            try await waitForCopies(cluster, at: 0, lacking: "owner: n3.")
            try copyNextKey(cluster, from: 0, to: [2])
            try await waitForCopies(cluster, at: 1)
            // The new key can be used at any node.
            let complete = try await rotate(cluster, "--complete", at: 1)
            #expect(complete.exit == .code(0), "\(complete)")
            for node in 0..<3 {
                #expect(readText(cluster.keyFile(node)) == next, "node \(node)")
                #expect(readText(cluster.keyFile(node) + ".previous") == old, "node \(node)")
                #expect(!FileManager.default.fileExists(atPath: cluster.keyFile(node) + ".next"))
                #expect(try await send(device.token, target, cluster, at: node) == 200)
            }
            try await cluster.nodes[2].process.killNow()
            try await cluster.nodes[2].start()
            #expect(try await send(device.token, target, cluster, at: 2) == 200)
            // The earlier key opens nothing.
            let former = try TemporaryDirectory()
            let file = try former.write(old, to: "cluster.key")
            let refused = try await RunningProcess.run(
                RepositoryPaths.program("posthornd"),
                [
                    "--init-cluster", "--store-url", cluster.database.address, "--cluster-address", "127.0.0.1:1",
                    "--cluster-key-file", file, "--data-directory", former.path(of: "data"),
                ])
            #expect(refused.exit == .code(78), "\(refused)")
            #expect(refused.errorOutput.contains("does not open the secrets"), "\(refused)")
        }

        @Test func `a canceled new key is discarded, and the next one can be used`() async throws {
            let cluster = try await TestCluster()
            let nothing = try await rotate(cluster, "--cancel", at: 0)
            #expect(nothing.exit != .code(0) && nothing.errorOutput.contains("No new key"), "\(nothing)")
            let unbegun = try await rotate(cluster, "--complete", at: 0)
            #expect(unbegun.exit != .code(0) && unbegun.errorOutput.contains("No new key"), "\(unbegun)")
            #expect(try await rotate(cluster, at: 0).exit == .code(0))
            try copyNextKey(cluster, from: 0, to: [1])
            try await waitForCopies(cluster, at: 0, lacking: "owner: n3.")
            let canceled = try await rotate(cluster, "--cancel", at: 1)
            #expect(canceled.exit == .code(0), "\(canceled)")
            try await eventually("the nodes have removed the file") {
                (0..<3).allSatisfy { !FileManager.default.fileExists(atPath: cluster.keyFile($0) + ".next") }
            }
            #expect(try await rotate(cluster, at: 2).exit == .code(0))
            try FileManager.default.copyItem(
                atPath: cluster.keyFile(0), toPath: cluster.keyFile(0) + ".next")
            let wrong = try await rotate(cluster, at: 0)
            #expect(wrong.exit != .code(0) && wrong.errorOutput.contains("does not contain the new key"), "\(wrong)")
            try FileManager.default.removeItem(atPath: cluster.keyFile(0) + ".next")
            try copyNextKey(cluster, from: 2, to: [0, 1])
            try await waitForCopies(cluster, at: 0)
            #expect(try await rotate(cluster, "--complete", at: 0).exit == .code(0))
        }

        @Test(.tags(.slow))
        func `a node killed while it seals the secrets changes nothing, and another node completes the rotation`()
            async throws
        {
            let cluster = try await TestCluster()
            let old = readText(cluster.keyFile(0))
            #expect(try await rotate(cluster, at: 0).exit == .code(0))
            try copyNextKey(cluster, from: 0, to: [1, 2])
            try await waitForCopies(cluster, at: 0)
            let before = try await sealed(cluster)
            // Another session holds a row, so the transaction waits with some rows written.
            async let holding = cluster.database.sql(
                """
                SET application_name = 'holder'; BEGIN;
                SELECT 1 FROM posthorn.secrets WHERE name = 'team-id' FOR UPDATE; SELECT pg_sleep(60)
                """)
            try await eventually("the row is held") {
                try await cluster.database.sql(
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'holder' AND wait_event = 'PgSleep'"
                ) == "1"
            }
            async let complete = rotate(cluster, "--complete", at: 0)
            try await eventually("the transaction waits") {
                try await cluster.database.sql(
                    """
                    SELECT count(*) FROM pg_stat_activity
                    WHERE application_name = 'posthornd n1' AND wait_event_type = 'Lock'
                    """) != "0"
            }
            try await cluster.nodes[0].process.killNow()
            #expect(try await complete.exit != .code(0))
            _ = try await cluster.database.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holder'")
            _ = try? await holding
            #expect(try await sealed(cluster) == before)
            #expect(readText(cluster.keyFile(0)) == old)
            let next = readText(cluster.keyFile(0) + ".next")
            let finished = try await rotate(cluster, "--complete", at: 1)
            #expect(finished.exit == .code(0) || finished.errorOutput.contains("n1"), "\(finished)")
            #expect(try await sealed(cluster) != before)
            // The killed node has both files, and starts with the one that opens the secrets.
            try await cluster.nodes[0].start()
            #expect(readText(cluster.keyFile(0)) == next)
            #expect(readText(cluster.keyFile(0) + ".previous") == old)
            #expect(!FileManager.default.fileExists(atPath: cluster.keyFile(0) + ".next"))
            #expect((1...2).allSatisfy { readText(cluster.keyFile($0)) == next })
        }
    }
}
