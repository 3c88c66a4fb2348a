// SPDX-License-Identifier: Apache-2.0

@testable import PosthornCLI
internal import PushAPI
internal import PushCore
internal import Testing

struct ClusterCommandTests {
    private static let own = ClusterAPI.Node(
        name: "n1", number: 0, instance: "1f", version: "0.1.0", address: "n1.internal:2197", isLive: true,
        heartbeatAgeMilliseconds: 300, draining: .no, leaseMilliseconds: 2_700, clockDifferenceMilliseconds: -2,
        commits: true,
        deviceCount: 12)
    private static let other = ClusterAPI.Node(
        name: "n2", number: 1, instance: "2f", version: "0.1.0", address: "n2.internal:2197", isLive: true,
        heartbeatAgeMilliseconds: 900, draining: .drained, isLinkUp: true)

    private static var shard: ClusterAPI.Shard {
        var shard = ClusterAPI.Shard(number: 0, slotCount: 1024, isConnected: true)
        shard.version = "15.18"
        shard.isPrimary = true
        shard.synchronousStandbyNames = "ANY 1 (s1, s2)"
        shard.synchronousStandbyCount = 2
        shard.synchronousCommit = "on"
        shard.usesTLS = true
        shard.oldestTransactionSeconds = 65
        shard.server = "db1.internal:5432"
        shard.asynchronousStandbyCount = 0
        shard.waitingCount = 1_203
        shard.writtenPerMinute = 310
        shard.commitP50Milliseconds = 3
        shard.commitP99Milliseconds = 9
        return shard
    }

    @Test func `a healthy cluster is shown with its nodes and PostgreSQL, and the exit code is 0`() throws {
        let cluster = ClusterAPI.Status(
            node: "n1", nodes: [Self.own, Self.other], shards: [Self.shard], problems: [])
        let report = ClusterCommands.report(of: cluster)
        #expect(
            report.text == """
                NODE  ID  STATE    HEARTBEAT  LINK  CLOCK  DEVICES  VERSION  ADDRESS
                n1     0  serving     300 ms  self  -2 ms       12  0.1.0    n1.internal:2197
                n2     1  drained     900 ms  up        -        -  0.1.0    n2.internal:2197

                PostgreSQL            15.18, primary at db1.internal:5432
                Synchronous standbys  2 connected; synchronous_standby_names = 'ANY 1 (s1, s2)'
                synchronous_commit    on
                TLS                   yes
                Oldest transaction    1 min 5 s
                Waiting               1203 notifications
                Written by n1         310 notifications in the last minute; commit: p50 3 ms, p99 9 ms

                No problems.

                n2 is drained. To let it take devices, run 'posthorn cluster undrain n2'.
                """)
        #expect(report.exitCode == .ok)
        #expect(try report.jsonText.contains(#""synchronous_standbys":2"#))
    }

    @Test func `several databases are shown with their slots`() {
        var second = ClusterAPI.Shard(number: 1, slotCount: 512, isConnected: false)
        var first = Self.shard
        first.slotCount = 512
        (first.synchronousStandbyCount, first.asynchronousStandbyCount) = (1, 1)
        second.writtenPerMinute = 0
        let cluster = ClusterAPI.Status(node: "n1", nodes: [Self.own], shards: [first, second], problems: [])
        #expect(
            ClusterCommands.report(of: cluster).text.contains(
                """
                SHARD  SLOTS  POSTGRESQL     STANDBYS  TLS  OLDEST TRANSACTION
                    0    512  15.18             1 + 1  yes  1 min 5 s
                    1    512  not connected         -  -    -

                SHARD  WAITING  WRITTEN   P50   P99  PRIMARY
                    0     1203  310/min  3 ms  9 ms  db1.internal:5432
                    1        -    0/min     -     -  -
                """))
        second.isConnected = true
        let silent = ClusterAPI.Status(node: "n1", nodes: [Self.own], shards: [first, second], problems: [])
        #expect(ClusterCommands.report(of: silent).text.contains("1    512  does not answer"))
    }

    @Test func `standbys that are not synchronous are shown, and a node without writes has no times`() {
        var shard = Self.shard
        (shard.synchronousStandbyCount, shard.asynchronousStandbyCount) = (1, 1)
        (shard.writtenPerMinute, shard.commitP50Milliseconds, shard.commitP99Milliseconds) = (0, nil, nil)
        let cluster = ClusterAPI.Status(node: "n1", nodes: [Self.own], shards: [shard], problems: [])
        let text = ClusterCommands.report(of: cluster).text
        #expect(text.contains("\nSynchronous standbys  1 connected; "))
        #expect(text.contains("\nOther standbys        1 connected\n"))
        #expect(text.contains("\nWritten by n1         0 notifications in the last minute\n"))
    }

    @Test func `a move names the nodes that do not use the shard, and says why it moved fewer slots`() {
        var second = ClusterAPI.Shard(number: 1, slotCount: 0, isConnected: true)
        second.absentNodes = ["n2", "n3"]
        let cluster = ClusterAPI.Status(
            node: "n1", nodes: [Self.own, Self.other], shards: [Self.shard, second], problems: [])
        let error = thrown { () throws(CommandError) in try ClusterCommands.checkUse(of: 1, in: cluster) }
        #expect(error?.exitCode == .refused)
        #expect(error?.remedy.hasPrefix("n2 and n3 do not use shard 1.") == true)
        #expect(thrown { () throws(CommandError) in try ClusterCommands.checkUse(of: 0, in: cluster) } == nil)
        func text(from before: Int, to after: Int, _ count: Int) -> String {
            ClusterCommands.moveText(1, from: before, to: after, count)
        }
        #expect(text(from: 0, to: 5, 5) == "Shard 1 has 5 slots now; 5 were moved.")
        #expect(text(from: 1024, to: 1024, 5).hasSuffix("0 were moved. No other shard has slots."))
        let recent = "2 were moved. The other slots moved recently. They can move again after a minute."
        #expect(text(from: 512, to: 514, 5).hasSuffix(recent))
    }

    @Test func `problems are listed, and the exit code is 1`() {
        var (own, other) = (Self.own, Self.other)
        own.leaseMilliseconds = 0
        other.isLive = false
        other.isLinkUp = false
        other.heartbeatAgeMilliseconds = 75_000
        let cluster = ClusterAPI.Status(
            node: "n1", nodes: [own, other], shards: [.init(number: 0, slotCount: 1024, isConnected: false)],
            problems: [.init(code: .notConnected, text: "n1 has no connection.")])
        let report = ClusterCommands.report(of: cluster)
        #expect(report.text.contains("n1     0  suspended"))
        #expect(report.text.contains("n2     1  not live, drained  1 min 15 s  down"))
        #expect(report.text.hasSuffix("PostgreSQL  not connected\n\nPROBLEMS\nn1 has no connection."))
        #expect(report.exitCode == .refused)
    }

    @Test func `drain waits for a live node, and is complete for one that does not run`() {
        func drained(_ change: (inout ClusterAPI.Status) -> Void) -> String? {
            var cluster = ClusterAPI.Status(
                node: "n1", nodes: [Self.own, Self.other], shards: [Self.shard], problems: [])
            change(&cluster)
            return ClusterCommands.drained("n2", in: cluster)
        }
        #expect(drained { _ in } == "n2 is drained.")
        #expect(drained { $0.nodes[1].draining = .draining } == nil)
        #expect(drained { $0.nodes.removeLast() } == nil)
        let dead = drained { ($0.nodes[1].draining, $0.nodes[1].isLive) = (.draining, false) }
        #expect(dead?.hasPrefix("n2 has sent no heartbeat for") == true)
        let unknown = drained {
            ($0.nodes[1].draining, $0.nodes[1].isLive, $0.shards[0].isConnected) = (.draining, false, false)
        }
        #expect(unknown == nil)
    }
}
