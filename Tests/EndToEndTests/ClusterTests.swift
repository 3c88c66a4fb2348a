// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ServerEndToEnd {
    /// Three servers that share a database in PostgreSQL.
    @Suite(.needsPostgres) struct ClusterTests {
        @Test func `a notification reaches its device over any node, and waits for it at any node`() async throws {
            let cluster = try await TestCluster()
            let stack = try await TestStack(server: cluster.nodes[0])
            var texts: [String] = []
            for node in 0..<3 {
                let provider = try await cluster.provider(of: stack.target, at: node)
                for number in 1...10 {
                    texts.append("\(node) \(number)")
                    #expect(try await provider.send(stack.notification("\(node) \(number)")).status == 200)
                }
            }
            try await wait(for: texts, stack)
            try await stack.user.agent.killNow()
            for node in 0..<3 {
                let provider = try await cluster.provider(of: stack.target, at: node)
                texts.append("away \(node)")
                #expect(try await provider.send(stack.notification("away \(node)")).status == 200)
            }
            try await stack.user.startAgent()
            try await wait(for: texts, stack)
        }

        @Test func `other nodes accept for a device whose node was killed, and it gets everything afterwards`()
            async throws
        {
            let cluster = try await TestCluster()
            let stack = try await TestStack(server: cluster.nodes[0])
            let provider = try await cluster.provider(of: stack.target, at: 1)
            let first = try await provider.send(stack.notification("before"))
            #expect(first.status == 200, "\(first)")
            try await cluster.nodes[0].process.killNow()
            let texts = (1...20).map { "during \($0)" }
            for text in texts {
                let sent = try await provider.send(stack.notification(text))
                #expect(sent.status == 200, "\(sent)")
            }
            try await cluster.nodes[0].start()
            try await wait(for: ["before"] + texts, stack)
        }

        @Test func `a revoked key and an ended registration are refused by every node, once that is answered`()
            async throws
        {
            let cluster = try await TestCluster()
            let stack = try await TestStack(server: cluster.nodes[0])
            let provider = try await cluster.provider(of: stack.target, at: 2)
            #expect(try await provider.send(stack.notification("valid")).status == 200)
            try await stack.user.posthorn("unregister", TestStack.app)
            #expect(try await provider.send(stack.notification("ended")).status == 410)
            try await cluster.nodes[1].posthorn("key", "revoke", stack.target.keyID)
            #expect(try await provider.send(stack.notification("revoked")).status == 403)
        }

        // The other nodes revoke the key when the stopped node has no lease. When that node continues, it may read the
        // request before it learns that the key is revoked.
        @Test func `a node that was stopped while a key was revoked accepts nothing sent with the key afterwards`()
            async throws
        {
            let cluster = try await TestCluster()
            let stack = try await TestStack(server: cluster.nodes[0])
            let provider = try await cluster.provider(of: stack.target, at: 2)
            #expect(try await provider.send(stack.notification("valid")).status == 200)
            try await cluster.nodes[2].process.now.freeze()
            try await cluster.nodes[1].posthorn("key", "revoke", stack.target.keyID)
            async let answer = provider.send(stack.notification("revoked"))
            // No event says that the request is in the buffer of the stopped process.
            try await Task.sleep(for: .milliseconds(500))
            cluster.nodes[2].process.now.send(SIGCONT)
            let status = try await answer.status
            #expect([403, 503].contains(status), "\(status)")
            try await wait(for: ["valid"], stack)
        }

        @Test func `a limit holds over all nodes, and is in force everywhere once it is set`() async throws {
            let cluster = try await TestCluster()
            let stack = try await TestStack(server: cluster.nodes[0])
            var providers: [APNsProvider] = []
            for node in 1...2 { providers.append(try await cluster.provider(of: stack.target, at: node)) }
            try await cluster.nodes[0].posthorn("quota", "set", "--topic", TestStack.app, "--daily", "5")
            for number in 1...5 {
                #expect(try await providers[0].send(stack.notification("\(number)")).status == 200)
            }
            #expect(try await providers[0].send(stack.notification("too many")).status == 429)
            try await eventually("the other node knows") {
                try await providers[1].send(stack.notification("elsewhere")).status == 429
            }
            try await cluster.nodes[1].posthorn("quota", "clear", "--topic", TestStack.app)
            #expect(try await providers[1].send(stack.notification("again")).status == 200)
        }

        @Test func `a broadcast at any node reaches the subscribers of all nodes, at once or when they connect`()
            async throws
        {
            let cluster = try await TestCluster()
            let stack = try await TestStack(server: cluster.nodes[0])
            let studio = try await BroadcastProvider(stack, publishingAt: cluster.nodes[2].port)
            let channel = try await studio.createChannel(policy: "last")
            try await stack.user.posthorn("subscribe", TestStack.app, channel)
            try await studio.publish(#"{"aps":{"alert":"live"}}"#, to: channel)
            try await stack.user.waitForEntry("it arrives") { $0.body == "live" }
            let expiration = Int64(Date().timeIntervalSince1970) + 3600
            for text in ["1:0", "2:0"] {
                try await studio.publish(#"{"aps":{"alert":"\#(text)"}}"#, to: channel, expiration: expiration)
                try await stack.user.waitForEntry("it arrives") { $0.body == text }
            }
            try await stack.user.agent.killNow()
            try await studio.publish(#"{"aps":{"alert":"3:0"}}"#, to: channel, expiration: expiration)
            try await stack.user.startAgent()
            try await stack.user.waitForEntry("the last arrives") { $0.body == "3:0" }
            #expect(try await stack.user.inbox(limit: 1000).map(\.body).filter { $0.contains(":") }.count == 3)
        }

        private func wait(for texts: [String], _ stack: TestStack) async throws {
            try await eventually("\(texts.count) notifications are in the inbox") {
                try await Set(stack.user.inbox(limit: 1000).map(\.body)).isSuperset(of: texts)
            }
            #expect(try await stack.user.inbox(limit: 1000).map(\.body).count == texts.count)
        }
    }
}
