// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// A connecting socket, which may come from the thread that resolved the name of a node.
final class ConnectingSocket: Sendable {
    let descriptor: FileDescriptor

    /// Starts to connect to a node; resolving its name may block.
    ///
    /// - Parameters:
    ///   - address: The address of the node.
    ///   - attempt: The number of earlier attempts.
    /// - Throws: The reason why the node cannot be reached.
    init(to address: LinkedNode.Address, attempt: Int) throws(NetError) {
        descriptor = try Sockets.connect(host: address.host, port: address.port, attempt: attempt)
    }
}
