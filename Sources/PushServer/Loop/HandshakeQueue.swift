// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Connections of a loop whose handshakes can go on, in order of readiness.
///
/// A step mostly signs or derives something, which takes as long as a hundred requests. Where thousands of devices come
/// back at once, only a few go on in each turn, so that what is connected waits for few of them.
struct HandshakeQueue {
    private var connections: [ServerConnection] = []
    /// Where the first one is; what is before it had its turn.
    private var head = 0
    /// How many are left over from earlier turns, and paused.
    private var pausedCount = 0

    var isEmpty: Bool { head == connections.count }

    /// Puts a connection at the end, unless it is in line already.
    mutating func append(_ connection: ServerConnection) {
        guard !connection.awaitsHandshake else { return }
        connection.awaitsHandshake = true
        connections.append(connection)
    }

    /// Takes out the first few, which go on now; the rest hears nothing of its sockets until then.
    mutating func takeTurn() -> [ServerConnection] {
        let turn = Array(connections[head...].prefix(Limits.handshakeStepsPerTurnCountMax))
        for connection in turn { connection.awaitsHandshake = false }
        head += turn.count
        pausedCount = max(pausedCount, head)
        while pausedCount < connections.count {
            connections[pausedCount].pauseHandshake()
            pausedCount += 1
        }
        if isEmpty || head >= 1024 {
            connections.removeFirst(head)
            (pausedCount, head) = (pausedCount - head, 0)
        }
        return turn
    }
}
