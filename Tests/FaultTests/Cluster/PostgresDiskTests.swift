// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ClusterFaults {
    /// Disks of PostgreSQL that are slow or full, or lose power: docs/reference/cluster-failures.md.
    @Suite(.tags(.slow)) struct PostgresDiskTests {
        /// The padding that lets the row of a notification take half a page.
        private static let padding = String(repeating: "x", count: 3000)

        private static func notification(_ text: String, _ site: ServerSite) -> SentNotification {
            SentNotification(
                token: site.token, payload: #"{"aps":{"alert":{"body":"\#(text)"}},"padding":"\#(padding)"}"#)
        }

        private func provider(of site: ServerSite, at url: String) async throws -> APNsProvider {
            try await APNsProvider(site.target(port: try #require(URLComponents(string: url)?.port)))
        }

        /// Lets a device receive and acknowledge this number of notifications, and returns their texts.
        private func received(_ count: Int, _ site: ServerSite, at url: String) async throws -> [String] {
            let stream = try site.openStream(url)
            var acknowledgedCount = 0
            try await eventually("\(count) notifications arrive", evidence: { "\(stream.texts.count) did" }) {
                let ids = stream.ids
                try await site.acknowledge(Array(ids.dropFirst(acknowledgedCount)), at: url)
                acknowledgedCount = ids.count
                return acknowledgedCount >= count
            }
            return stream.texts
        }

        // MARK: Slow

        @Test(.enabled(if: SlowDisk.isPossible, "tracing another process needs root"))
        func `slow disk of the primary: batches grow, and nothing is refused or lost`() async throws {
            let postgres = try await PostgresServer()
            let site = try await ServerSite(options: ServerSite.options(postgres.address))
            let server = try site.start()
            let url = try await server.url()
            let provider = try await provider(of: site, at: url)
            let disk = try await postgres.slowDown(milliseconds: 300)
            let answers = try await provider.send((1...200).map { Self.notification("<\($0)>", site) })
            #expect(answers.allSatisfy { $0.status == 200 }, "\(answers.filter { $0.status != 200 })")
            let rows = try await server.metric(#"posthorn_pg_batch_rows_sum{shard="0"}"#)
            let batches = try await server.metric(#"posthorn_pg_batch_rows_count{shard="0"}"#)
            #expect(rows == 200 && batches.map { $0 <= 40 } == true, "\(batches ?? -1) batches for \(rows ?? -1) rows")
            try await disk.end()
            let texts = try await received(200, site, at: url)
            #expect(texts.count == 200 && Set(texts) == Set((1...200).map { "<\($0)>" }))
            try await server.stop()
        }

        @Test(.waitsLong, .enabled(if: SlowDisk.isPossible, "tracing another process needs root"))
        func `disk of the primary slower than a lease: nothing is accepted, and nothing is lost when it is fast again`()
            async throws
        {
            let postgres = try await PostgresServer()
            let site = try await ServerSite(options: ServerSite.options(postgres.address, "--accept-patience", "5"))
            let server = try site.start()
            let url = try await server.url()
            #expect(try await site.send("before", to: url) == 200)
            let disk = try await postgres.slowDown(milliseconds: 4_000)
            #expect(try await site.send("meanwhile", to: url) == 503)
            #expect(try await server.metric(#"posthorn_suspended{shard="0"}"#) == 1)
            try await disk.end()
            try await eventually("it accepts again") { try await site.send("after", to: url) == 200 }
            let texts = try await received(2, site, at: url)
            #expect(texts.first == "before" && texts.last == "after" && Set(texts).count == texts.count, "\(texts)")
            try await server.stop()
        }

        // MARK: Full

        @Test(.enabled(if: geteuid() == 0, "mounting a small file system needs root"), arguments: [false, true])
        func `disk full at PostgreSQL: 503, deletions are tried again, and everything works when space is free`(
            isLogFull: Bool
        ) async throws {
            let disk = try SmallDisk(byteCount: 96 << 20, isOpen: true)
            let postgres = try await PostgresServer(
                configuration: ["max_wal_size = 32MB", "wal_keep_size = 0", "autovacuum = off"],
                data: disk.directory.path(of: "data"))
            let site = try await ServerSite(options: ServerSite.options(postgres.address, "--accept-patience", "5"))
            let server = try site.start()
            let url = try await server.url()
            let provider = try await provider(of: site, at: url)
            let stream = try site.openStream(url)
            #expect(try await site.send("connected", to: url) == 200)
            try await eventually("the device is connected") { stream.texts == ["connected"] }

            try disk.fill()
            if isLogFull {
                // PostgreSQL stops when it cannot continue its log, and does not start without space.
                _ = try? await postgres.sql("SELECT pg_switch_wal(); SELECT pg_switch_wal()")
            }
            var accepted = ["connected"]
            var batch = 0
            try await eventually("notifications are refused", evidence: { server.process.transcript }) {
                batch += 1
                let texts = (0..<100).map { "\(batch)-\($0)" }
                let answers = try await provider.send(texts.map { Self.notification($0, site) })
                for (text, answer) in zip(texts, answers) where answer.status == 200 { accepted.append(text) }
                let refusals = Set(answers.map(\.status)).subtracting([200])
                #expect(refusals.isSubset(of: [503]))
                return refusals == [503]
            }
            let log = server.process.errorOutput
            #expect(log.contains(isLogFull ? "postgres_disconnected" : "No space left on device"), "\(log)")
            if !isLogFull {
                // Meanwhile, the device receives everything. Its acknowledgements may free the space of a row.
                async let doubtful = provider.send([Self.notification("doubtful", site)])
                try await acknowledgeAll(accepted, stream, site, at: url)
                try await eventually("the rows are deleted") {
                    try await postgres.sql("SELECT count(*) FROM posthorn.pending WHERE id <= \(stream.ids.max() ?? 0)")
                        == "0"
                }
                if try await doubtful.map(\.status) == [200] { accepted.append("doubtful") }
            }

            try disk.free()
            if isLogFull {
                try? await postgres.stop()
                try await postgres.start()
            }
            try await eventually("it accepts again", evidence: { server.process.transcript }) {
                let isAccepted = try await site.send("after", to: url) == 200
                return isAccepted
            }
            accepted.append("after")
            try await acknowledgeAll(accepted, stream, site, at: url)
            #expect(try await site.problems()["not-connected"] == nil)
            #expect(stream.process.exit == nil)
            try await server.stop()
        }

        /// Waits until a stream has each of these texts once, and acknowledges everything on it.
        private func acknowledgeAll(
            _ accepted: [String], _ stream: Stream, _ site: ServerSite, at url: String
        ) async throws {
            var acknowledged: Set<Int64> = []
            try await eventually("all are delivered", evidence: { "\(stream.texts.count) of \(accepted.count)" }) {
                let new = stream.ids.filter { acknowledged.insert($0).inserted }
                try await site.acknowledge(new, at: url)
                return Set(stream.texts).isSuperset(of: accepted)
            }
            // Refused notifications may arrive too.
            let wanted = Set(accepted)
            #expect(stream.texts.filter(wanted.contains).sorted() == accepted.sorted(), "each comes once")
        }

        // MARK: Power

        @Test(.enabled(if: CutDisk.isPossible, "cutting the power needs root, loop devices and mkfs.ext4"))
        func `all killed at once by a power cut: nothing is lost`() async throws {
            let disk = try CutDisk(byteCount: 512 << 20, isOpen: true)
            let postgres = try await PostgresServer(data: disk.path(of: "postgres"))
            let site = try await ServerSite(
                data: disk.path(of: "data"), options: ServerSite.options(postgres.address))
            // PostgreSQL's files were created without waiting for the disk.
            sync()
            let server = try site.start()
            let url = try await server.url()
            let provider = try await provider(of: site, at: url)
            let sender = Task {
                var accepted: [(text: String, at: ContinuousClock.Instant)] = []
                for batch in 0..<1000 {
                    let texts = (0..<20).map { "\(batch)-\($0)" }
                    let sent = texts.map { Self.notification($0, site) }
                    guard let answers = try? await provider.send(sent) else { break }
                    let moment = ContinuousClock.now
                    for (text, answer) in zip(texts, answers) where answer.status == 200 {
                        accepted.append((text, moment))
                    }
                    guard answers.allSatisfy({ $0.status == 200 }) else { break }
                }
                return accepted
            }
            try await eventually("notifications are accepted") {
                try await server.metric("posthorn_notifications_accepted_total") ?? 0 > 300
            }
            let cut = ContinuousClock.now
            try await postgres.kill(after: disk.cutPower)
            try await server.process.killNow()
            let accepted = await sender.value.filter { $0.at < cut }.map(\.text)
            try disk.comeBack()
            try await postgres.start()
            let next = try site.start()
            let texts = try await received(accepted.count, site, at: try await next.url())
            #expect(accepted.count > 200 && Set(texts).isSuperset(of: accepted), "\(texts.count) of \(accepted.count)")
            #expect(Set(texts).count == texts.count, "each comes once")
            try await next.stop()
        }
    }
}
