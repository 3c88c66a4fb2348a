// SPDX-License-Identifier: Apache-2.0

internal import PushStore

/// The open WebSockets of a loop by the slot of their connection, found without hashing.
struct SocketTable {
    private var sockets: [DeviceSocket?] = []

    /// All sockets, in the order of their slots.
    var all: [DeviceSocket] { sockets.compactMap(\.self) }

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

    /// Removes and returns the socket with this address.
    mutating func remove(_ address: ReplyAddress) -> DeviceSocket? {
        guard let socket = find(address) else { return nil }
        sockets[Int(address.slot)] = nil
        return socket
    }
}
