// SPDX-License-Identifier: Apache-2.0

internal import TestSupport
internal import Testing

extension ServerEndToEnd {
    /// A cluster whose devices are in two databases.
    @Suite(.needsPostgres) struct ClusterShardTests {
        /// Sends numbered notifications to a device; returns the answers to those that were not accepted.
        private func send(
            to device: PlainDevice, _ provider: APNsProvider, _ count: Int
        ) async throws -> [String] {
            var refusals: [String] = []
            for number in 1...count {
                let sent = SentNotification(
                    token: device.token, payload: #"{"aps":{"alert":"<\#(number)>"}}"#)
                let start = ContinuousClock.now
                let result = try await provider.send(sent)
                guard result.status != 200 else { continue }
                let duration = ContinuousClock.now - start
                refusals.append("\(number): \(result.status) \(result.reason ?? "") after \(duration)")
            }
            return refusals
        }

        /// Receives all notifications of a device, at any node that takes it; returns their texts.
        private func received(_ count: Int, _ device: PlainDevice, _ cluster: TestCluster) async throws -> [String] {
            let moving = MovingDevice(device)
            while Set(moving.texts).count < count {
                let (socket, status) = try await moving.connect(to: cluster.nodes[moving.texts.count % 3])
                guard status == 101 else { continue }
                try await moving.receive(on: socket) { Set($0).count == count }
            }
            return moving.texts
        }

        @Test func `devices move to another database under load: nothing is refused or lost, and all arrives in order`()
            async throws
        {
            let cluster = try await TestCluster(hasSecondShard: true)
            let target = try await cluster.nodes[0].addApp("com.example.Shards")
            var devices: [PlainDevice] = []
            for _ in 0..<6 { devices.append(try await PlainDevice(cluster.nodes[0], target)) }
            let provider = try await cluster.provider(of: target, at: 1)
            let count = 150
            async let moved = cluster.posthorn("cluster", "move-slots", "--to", "1", "512", at: 2)
            try await withThrowingTaskGroup(of: [String]?.self) { group in
                for device in devices {
                    group.addTask {
                        let refusals = try await send(to: device, provider, count)
                        #expect(refusals == [])
                        return nil
                    }
                    group.addTask { try await received(count, device, cluster) }
                }
                for try await texts in group {
                    guard let texts else { continue }
                    // A notification that was not acknowledged before the move arrives again.
                    var seen: Set<String> = []
                    let first = texts.filter { seen.insert($0).inserted }
                    #expect(first.compactMap { Int($0) } == Array(1...count))
                }
            }
            let result = try await moved
            #expect(result.output == "Shard 1 has 1024 slots now; 512 were moved.\n", "\(result)")
            let shard = try #require(cluster.shard)
            #expect(try await shard.sql("SELECT count(*) FROM posthorn.devices") == "6")
            let status = try await cluster.posthorn("cluster", "status", at: 0)
            #expect(status.output.contains(/\n +1 +1024 +15\./), "\(status)")
        }

        @Test func `wrong moves are refused with the reason`() async throws {
            let cluster = try await TestCluster(hasSecondShard: true)
            let unknown = try await cluster.posthorn("cluster", "move-slots", "--to", "9", "1", at: 0)
            #expect(unknown.exit == .code(4) && unknown.errorOutput.contains("no such shard"), "\(unknown)")
            for arguments in [["--to", "x", "1"], ["--to", "1", "0"], ["--to", "1", "many"], ["1"]] {
                let result = try await RunningProcess.run(
                    RepositoryPaths.program("posthorn"), ["cluster", "move-slots"] + arguments)
                #expect(result.exit == .code(2), "\(result)")
            }
            let finished = try await cluster.posthorn("cluster", "finish-upgrade", at: 1)
            #expect(finished.output == "There is nothing to finish.\n", "\(finished)")
        }
    }
}
