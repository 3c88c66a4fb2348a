// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ClusterFaults {
    /// A database that has only devices, without the control data: docs/reference/cluster-failures.md.
    @Suite(.tags(.slow)) struct ShardOutageTests {
        @Test func `a shard is down: devices of the other shard are served, and its own devices get everything later`()
            async throws
        {
            let (first, second) = (try await PostgresDatabase(), try await PostgresServer())
            let site = try await ServerSite(
                options: ServerSite.options(
                    first.address, "--cluster-shards", second.address, "--accept-patience", "5"))
            let server = try site.start()
            let url = try await server.url()
            let (near, far) = try await devices(of: site, at: url) {
                try await second.sql("SELECT count(*) FROM posthorn.devices")
            }
            let streams = (near: try near.openStream(url), far: try far.openStream(url))
            for device in [near, far] { #expect(try await device.send("before", to: url) == 200) }
            try await eventually("both are connected") {
                streams.near.texts == ["before"] && streams.far.texts == ["before"]
            }

            try await second.kill()
            #expect(try await far.send("refused", to: url) == 503)
            for number in 1...5 { #expect(try await near.send("\(number)", to: url) == 200) }
            try await eventually("the node knows it") { try await site.problems()["not-connected"] != nil }
            #expect(try await site.problems()["not-connected"]?.contains("shard 1:") == true)
            #expect(try await server.metric(#"posthorn_pg_connected{shard="0"}"#) == 1)
            #expect(try await server.metric(#"posthorn_pg_connected{shard="1"}"#) == 0)
            let another = try near.openStream(url)
            try await eventually("a device of the other shard connects") {
                another.texts == ["before"] + (1...5).map(String.init)
            }
            try await near.acknowledge(another.ids, at: url)

            try await second.start()
            try await eventually("the shard accepts again") { try await far.send("after", to: url) == 200 }
            try await eventually("its device has everything", evidence: { streams.far.process.transcript }) {
                streams.far.texts.last == "after"
            }
            let texts = streams.far.texts
            #expect(texts.first == "before" && Set(texts).count == texts.count, "\(texts)")
            #expect(streams.far.process.exit == nil && another.process.exit == nil)
            try await server.stop()
        }

        /// Returns a device of each shard; enrols devices, whose IDs are random, until each shard has one.
        private func devices(
            of site: ServerSite, at url: String, farCount: () async throws -> String
        ) async throws -> (near: ServerSite, far: ServerSite) {
            var (near, far): (ServerSite?, ServerSite?)
            if try await farCount() == "0" { near = site } else { far = site }
            while true {
                if let near, let far { return (near, far) }
                let before = try await farCount()
                let device = try await ServerSite(sharing: site, at: url)
                if try await farCount() == before { near = device } else { far = device }
            }
        }
    }
}
