// SPDX-License-Identifier: Apache-2.0

package import PushStore

/// Sends the batches, messages and replies of a node.
package protocol ClusterOutput: AnyObject {
    /// Sends a batch to a shard, which has answered the one before.
    ///
    /// - Parameters:
    ///   - batch: The statements.
    ///   - number: The number of the batch, which its result repeats.
    ///   - shard: The index of the shard.
    func send(_ batch: ShardBatch, number: Int64, toShard shard: Int)

    /// Sends messages to another node, in order; drops them without a link.
    func send(_ messages: [NodeMessage], to instance: InstanceID)

    /// Sends replies to a loop of this node, in order.
    func reply(_ replies: [StoreReply], toLoop loop: UInt32)
}
