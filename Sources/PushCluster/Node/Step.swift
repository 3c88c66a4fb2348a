// SPDX-License-Identifier: Apache-2.0

/// The next step of a notification in a node.
///
/// ```
/// route ─▶ look ─▶ push ─acknowledged─▶ finish      push ─not here, no answer─▶ write ─▶ tell the host ─▶ finish
/// ```
/// The parts of a node hand notifications to each other only by steps, which `ClusterStore` carries out.
enum Step {
    /// Finds the host: this node, a node that the routes know, or the one that the shard names.
    case route
    /// Asks the shard for the host.
    case look
    /// Sends it to the node that hosts the device.
    case push(InstanceID)
    /// Delivers it on the device's stream on this node.
    case offer
    /// Writes it to the shard.
    case write
    /// Tells the host of the device that there is a new row.
    case tell(ShardResult.Host?)
    /// Answers the sender.
    case finish(WaitingNotification.Result)
}
