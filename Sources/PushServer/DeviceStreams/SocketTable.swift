// SPDX-License-Identifier: Apache-2.0

internal import PushStore

/// The WebSockets of a loop by the slot of their connection, found without hashing.
struct SocketTable {
    private var sockets: [DeviceSocket?] = []

    /// Returns the socket with this address.
    func find(_ address: ReplyAddress) -> DeviceSocket? {
        guard address.slot < sockets.count, let socket = sockets[Int(address.slot)], socket.address == address else {
            return nil
        }
        return socket
    }

    mutating func insert(_ socket: DeviceSocket) {
        let slot = Int(socket.address.slot)
        while sockets.count <= slot { sockets.append(nil) }
        sockets[slot] = socket
    }

    /// Removes the socket with this address, if there is one.
    mutating func remove(_ address: ReplyAddress) {
        if find(address) != nil { sockets[Int(address.slot)] = nil }
    }
}
