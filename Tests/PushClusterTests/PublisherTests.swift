// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushNet
import PushStore
import Testing

@testable import PushCluster

/// The bound of the broadcasts that wait at a node.
struct PublisherTests {
    private final class Output: ClusterOutput {
        var refused: [ReplyAddress] = []
        var accepted: [ReplyAddress] = []

        func send(_ batch: ShardBatch, number: Int64, toShard shard: Int) {}
        func send(_ messages: [NodeMessage], to instance: InstanceID) {}
        func reply(_ replies: [StoreReply], toLoop loop: UInt32) {
            for reply in replies {
                switch reply {
                case .refused(.serviceUnavailable, _, let answer): refused.append(answer)
                case .accepted(let answer): accepted.append(answer)
                default: break
                }
            }
        }
    }

    private let context: NodeContext
    private let publisher: Publisher
    private let output = Output()

    /// Creates a node that knows PostgreSQL's time.
    init() {
        context = NodeContext(NodeConfiguration(InstanceID(rawValue: 1)) { .unixEpoch })
        context.moment = MonotonicTime(nanoseconds: 1_000_000_000)
        context.ids.clock.add(1_800_000_000_000_000, asked: context.moment, answered: context.moment)
        context.control.note(0, inHeartbeatSentAt: context.moment)
        publisher = Publisher(context) { true }
    }

    private func address(_ number: Int) -> ReplyAddress {
        ReplyAddress(loop: 0, slot: UInt32(number), generation: 0, exchange: 0)
    }

    private func begin(_ number: Int) -> Publication? {
        var publication: Publication?
        publisher.begin(address(number)) { publication = $0 }
        context.flush(to: output)
        return publication
    }

    @Test func `a node refuses further broadcasts while 256 wait, until one of them is answered`() throws {
        var waiting = (0..<256).compactMap(begin)
        #expect(waiting.count == 256 && output.refused.isEmpty)
        #expect(begin(256) == nil && output.refused == [address(256)])

        publisher.refuse(waiting.removeFirst(), .serviceUnavailable)
        waiting.append(try #require(begin(257)))
        #expect(begin(258) == nil)

        // The answer to an accepted broadcast waits until all nodes make higher numbers.
        publisher.finish(waiting.removeFirst())
        #expect(begin(259) == nil && output.accepted.isEmpty)
        context.moment = try #require(publisher.nextDue)
        publisher.expire()
        #expect(begin(260) != nil && output.accepted == [address(1)])
    }
}
