// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ServerEndToEnd {
    /// The commands `posthorn cluster` at three servers that share a database in PostgreSQL.
    struct ClusterAdministrationTests {
        private struct Status: Decodable {
            struct Node: Decodable {
                let name: String
                let live: Bool
                let draining: String
                // swift-format-ignore: AlwaysUseLowerCamelCase
                let link_up: Bool?
            }
            struct Problem: Decodable {
                let code: String
            }

            let nodes: [Node]
            let problems: [Problem]
        }

        private func status(_ cluster: TestCluster, at node: Int) async throws -> Status {
            try await cluster.posthorn("cluster", "status", "--json", at: node).decoded(Status.self)
        }

        @Test(.needsPostgres)
        func `the status shows nodes, links and problems, and status does not count links as providers`()
            async throws
        {
            let cluster = try await TestCluster()
            try await eventually("all links are up") {
                try await status(cluster, at: 0).nodes.filter { $0.link_up == true }.count == 2
            }
            let healthy = try await cluster.posthorn("cluster", at: 0)
            #expect(healthy.output.contains(/\nn1 +\d +serving .* self\b/), "\(healthy)")
            #expect(healthy.output.contains(/\nn3 +\d +serving .* up\b/), "\(healthy)")
            // The database of the tests has no standby.
            #expect(healthy.exit == .code(1) && healthy.output.contains("no synchronous standby"), "\(healthy)")
            let connections = "0 from devices, 0 from providers, 2 from other nodes, 0 unauthenticated"
            try await eventually("the last node has accepted the links of both others") {
                try await cluster.nodes[2].posthorn("status").output.contains(connections)
            }
            try await cluster.nodes[1].process.killNow()
            try await eventually("the dead node is shown") {
                try await status(cluster, at: 0).problems.contains { $0.code == "node-not-live" }
            }
            let dead = try #require(try await status(cluster, at: 0).nodes.first { $0.name == "n2" })
            #expect(!dead.live && dead.link_up == false)
        }

        @Test(.needsPostgres)
        func `the metrics of a node show its lease, links and rows, and a drained node is not ready`()
            async throws
        {
            let cluster = try await TestCluster()
            let target = try await cluster.nodes[0].addApp("com.example.Metrics")
            let device = try await PlainDevice(cluster.nodes[0], target)
            let payload = SentNotification(token: device.token, payload: #"{"aps":{"alert":"x"}}"#)
            #expect(try await cluster.provider(of: target, at: 0).send(payload).status == 200)
            let port = try await MonitoringPort(of: cluster.nodes[0])
            try await eventually("both links are up") { try await port.metrics()["posthorn_links_up"] == 2 }
            let metrics = try await port.metrics()
            let expected = [
                #"posthorn_pg_connected{shard="0"}"#: 1.0, #"posthorn_pg_batch_rows_sum{shard="0"}"#: 1,
                #"posthorn_pg_batch_rows_count{shard="0"}"#: 1, #"posthorn_pg_commit_seconds_count{shard="0"}"#: 1,
                #"posthorn_suspended{shard="0"}"#: 0, "posthorn_draining": 0, "posthorn_control_version_lag": 0,
                "posthorn_routes": 1, #"posthorn_pushes_total{result="accepted"}"#: 0,
                #"posthorn_wakes_total{result="unanswered"}"#: 0, "posthorn_attach_seconds_count": 0,
                "posthorn_registered_again_total": 0, "posthorn_trimmed_total": 0,
                #"posthorn_cluster_problems{code="link-down"}"#: 0, #"posthorn_cluster_problems{code="no-tls"}"#: 0,
            ]
            for (name, value) in expected { #expect(metrics[name] == value, "\(name)") }
            #expect(metrics[#"posthorn_lease_seconds{shard="0"}"#] ?? 0 > 0)
            try await eventually("the state of PostgreSQL is read") {
                let metrics = try await port.metrics()
                return metrics[#"posthorn_cluster_problems{code="no-synchronous-standby"}"#] == 1
                    && metrics[#"posthorn_pg_oldest_transaction_seconds{shard="0"}"#] != nil
            }
            let prometheus = try await Prometheus(scraping: port.address)
            let queries = try DocumentedQueries()
            try await queries.expectAnswers(to: queries.ofCluster, from: prometheus)
            #expect(try await port.get("/readyz").status == 200)
            let drained = try await cluster.posthorn("cluster", "drain", "n1", at: 2)
            #expect(drained.exit == .code(0), "\(drained)")
            let readiness = try await port.get("/readyz")
            #expect(readiness.status == 503 && readiness.body.contains("drained"), "\(readiness)")
            #expect(try await port.metrics()["posthorn_draining"] == 1)
        }

        @Test(.needsPostgres)
        func `a node of a cluster refuses to change the announced authorities, and leaves no file of a change`()
            async throws
        {
            let cluster = try await TestCluster()
            let changes = [["rotate"], ["announce", "--system"]]
            for change in changes {
                let result = try await RunningProcess.run(
                    RepositoryPaths.program("posthorn"), ["authority"] + change,
                    environment: ["POSTHORN_ADMIN_SOCKET": cluster.nodes[0].admin.path])
                #expect(result.exit == .code(1), "\(change): \(result)")
                #expect(result.errorOutput.contains("What PostgreSQL does not have yet"), "\(change): \(result)")
            }
            let data = cluster.nodes[0].files.path(of: "data")
            let files = try FileManager.default.contentsOfDirectory(atPath: data)
            #expect(!files.contains { $0.hasPrefix("authorities") || $0.contains("next") }, "\(files)")
        }

        @Test func `a server with SQLite has no cluster`() async throws {
            let server = try await InstalledServer()
            let result = try await RunningProcess.run(
                RepositoryPaths.program("posthorn"), ["cluster", "status", "--socket", server.admin.path])
            #expect(result.exit == .code(4), "\(result)")
        }
    }
}
