// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ServerEndToEnd {
    /// Nodes of a cluster that send their devices away while providers send.
    @Suite(.needsPostgres) struct ClusterDrainTests {
        private func send(_ texts: [String], _ provider: APNsProvider, _ token: String) async throws -> [Int] {
            var refusals: [Int] = []
            for text in texts {
                let sent = SentNotification(token: token, payload: #"{"aps":{"alert":"<\#(text)>"}}"#)
                let status = try await provider.send(sent).status
                if status != 200 { refusals.append(status) }
            }
            return refusals
        }

        @Test func `a drained node refuses nothing of providers, and its device gets everything at another node`()
            async throws
        {
            let cluster = try await TestCluster()
            let target = try await cluster.nodes[0].addApp("com.example.Drain")
            let device = MovingDevice(try await PlainDevice(cluster.nodes[0], target))
            let token = device.device.token
            let texts = (0..<3).map { node in (1...60).map { "\(node) \($0)" } }
            let providers = try await [
                cluster.provider(of: target, at: 0), cluster.provider(of: target, at: 1),
                cluster.provider(of: target, at: 2),
            ]
            let (socket, status) = try await device.connect(to: cluster.nodes[0])
            #expect(status == 101)
            async let refusals = [
                send(texts[0], providers[0], token), send(texts[1], providers[1], token),
                send(texts[2], providers[2], token),
            ]
            try await device.receive(on: socket) { $0.count >= 20 }
            async let drained = cluster.posthorn("cluster", "drain", "n1", at: 1)
            try await device.receive(on: socket)
            let result = try await drained
            #expect(result.exit == .code(0), "\(result)")
            let refused = try await WebSocketDevice(cluster.nodes[0], secret: device.device.secret).connect()
            #expect(refused.status == 503 && refused.fields["retry-after"] == "0")
            let next = try await device.connect(to: cluster.nodes[1])
            #expect(next.status == 101)
            try await device.receive(on: next.socket) { Set($0).count == 180 }
            let refusedStatuses = try await refusals
            #expect(refusedStatuses == [[], [], []])
            let state = try await cluster.posthorn("cluster", "status", at: 2)
            #expect(state.output.contains(/\nn1 +\d +drained\b/), "\(state)")
            try await cluster.nodes[0].posthorn("cluster", "undrain", "n1")
            try await eventually("the node takes devices again") {
                try await device.connect(to: cluster.nodes[0]).status == 101
            }
            let unknown = try await cluster.posthorn("cluster", "drain", "n9", at: 0)
            #expect(unknown.exit == .code(4), "\(unknown)")
        }

        @Test func `a node that stops loses nothing, and other nodes refuse nothing meanwhile`() async throws {
            let cluster = try await TestCluster()
            let target = try await cluster.nodes[0].addApp("com.example.Stop")
            let device = MovingDevice(try await PlainDevice(cluster.nodes[0], target))
            let token = device.device.token
            let texts = [(1...80).map { "1 \($0)" }, (1...80).map { "2 \($0)" }]
            let providers = try await [
                cluster.provider(of: target, at: 1), cluster.provider(of: target, at: 2),
            ]
            let (socket, status) = try await device.connect(to: cluster.nodes[0])
            #expect(status == 101)
            async let refusals = [send(texts[0], providers[0], token), send(texts[1], providers[1], token)]
            try await device.receive(on: socket) { $0.count >= 20 }
            cluster.nodes[0].process.now.send(SIGTERM)
            try await device.receive(on: socket)
            #expect(try await cluster.nodes[0].process.now.waitForExit() == .code(0))
            let next = try await device.connect(to: cluster.nodes[1])
            #expect(next.status == 101)
            try await device.receive(on: next.socket) { Set($0).count == 160 }
            let refusedStatuses = try await refusals
            #expect(refusedStatuses == [[], []])
        }

        @Test(.tags(.slow))
        func `a node that is cut off from PostgreSQL sends its device to another node, until it is connected again`()
            async throws
        {
            let cluster = try await TestCluster()
            let target = try await cluster.nodes[0].addApp("com.example.Cut")
            let device = MovingDevice(try await PlainDevice(cluster.nodes[0], target))
            let provider = try await cluster.provider(of: target, at: 1)
            let (socket, status) = try await device.connect(to: cluster.nodes[0])
            #expect(status == 101)
            #expect(try await send(["before"], provider, device.device.token) == [])
            try await device.receive(on: socket) { $0 == ["before"] }
            try await cluster.cutOff(0)
            try await eventually("the lease of the node is over") {
                try await cluster.posthorn("cluster", "status", at: 1).output.contains("n1 sends no heartbeat")
            }
            let refused = try await send(["during"], provider, device.device.token)
            #expect(refused == [])
            // The node ends the stream thirteen seconds after its last heartbeat.
            try await device.receive(on: socket)
            #expect(device.texts == ["before"])
            let next = try await device.connect(to: cluster.nodes[1])
            #expect(next.status == 101)
            try await device.receive(on: next.socket) { $0 == ["before", "during"] }
            let state = try await cluster.posthorn("cluster", "status", at: 0)
            #expect(state.exit == .code(1) && state.output.contains("n1 has no connection to PostgreSQL"), "\(state)")
            try cluster.heal(0)
            try await eventually("the node takes devices again") {
                try await device.connect(to: cluster.nodes[0]).status == 101
            }
        }
    }
}
