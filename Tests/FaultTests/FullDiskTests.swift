// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension Faults {
    /// Fills the disk with notifications, and frees space with acknowledgements from devices.
    @Suite(.enabled(if: geteuid() == 0, "mounting a small file system needs root"))
    struct FullDiskTests {
        private let disk: SmallDisk
        private let site: ServerSite

        init() async throws {
            disk = try SmallDisk(byteCount: 3 << 20)
            site = try await ServerSite(data: disk.directory.path(of: "data"))
        }

        /// Sends until the disk is full, and returns the number of accepted notifications.
        private func fill(_ url: String) async throws -> Int {
            let port = try #require(URLComponents(string: url)?.port)
            let provider = try await APNsProvider(site.target(port: port))
            let payload = #"{"aps":{"alert":""#.appending(String(repeating: "x", count: 3000)).appending(#""}}"#)
            var acceptedCount = 0
            try await eventually("the disk is full") {
                let answers = try await provider.send(
                    (0..<20).map { _ in SentNotification(token: site.token, payload: payload) })
                acceptedCount += answers.count { $0.status == 200 }
                return answers.contains { $0.status == 503 }
            }
            return acceptedCount
        }

        private func status() async throws -> String { try await site.posthorn("status").succeeded().output }

        @Test(.tags(.slow))
        func `a full disk is reported to all, and ends when devices have acknowledged the notifications`()
            async throws
        {
            let server = try site.start(environment: [
                "POSTHORN_PENDING_PER_TOPIC": "100000", "POSTHORN_METRICS_LISTEN": "127.0.0.1:0",
            ])
            let url = try await server.url()
            let log = server.process.errorOutput
            let monitoring = String(try #require(log.firstMatch(of: /metrics=(http:\S+)\/metrics/)).1)
            func readiness() async throws -> String {
                try await RunningProcess.run(
                    try RepositoryPaths.tool("curl"), ["-sS", "-w", "%{http_code}", "\(monitoring)/readyz"]
                ).succeeded().output
            }
            #expect(try await readiness() == "The server is ready.\n200")
            let acceptedCount = try await fill(url)
            try #require(acceptedCount > 64)

            let refused = try await site.answer(to: "more", at: url)
            #expect(refused?.status == 503 && refused?.detail?.contains("disk is full and nothing was stored") == true)
            #expect(try await site.send("now or never", to: url, options: ["--expiration", "0"]) == 200)
            let full = try await status()
            #expect(full.contains("Disk full since") && full.contains("free space for \(site.data)"), "\(full)")
            #expect(try await site.posthorn("status", "--json").output.contains("disk_full_since"))
            let unready = try await readiness()
            #expect(unready.hasPrefix("The disk has been full since ") && unready.hasSuffix("503"), "\(unready)")

            let stream = try site.openStream(url)
            var acknowledgedCount = 0
            try await eventually("all are delivered", evidence: { server.process.transcript }) {
                let ids = stream.ids
                try await site.acknowledge(Array(ids.dropFirst(acknowledgedCount)), at: url)
                acknowledgedCount = ids.count
                return acknowledgedCount >= acceptedCount
            }
            try await eventually("it accepts again", evidence: { server.process.transcript }) {
                try await site.send("after", to: url) == 200
            }
            #expect(try await !status().contains("Disk full"))
            #expect(try await readiness().hasSuffix("200"))
            try await server.stop()
        }
    }
}
