// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Connections of a loop whose handshakes can go on, in order of readiness; those that have begun come first.
///
/// A first step mostly signs and derives something, which takes as long as a hundred requests. Where thousands of devices
/// come back at once, only a few go on in each turn, so that what is connected waits for few of them. A handshake that
/// has begun ends before another begins: else all would be too old in the end.
struct HandshakeQueue<Connection: HandshakeTaker> {
    private var begun = Line()
    private var new = Line()

    var isEmpty: Bool { begun.isEmpty && new.isEmpty }

    /// Puts a connection at the end of its line, unless it is in line already.
    mutating func append(_ connection: Connection) {
        guard !connection.awaitsHandshake else { return }
        connection.awaitsHandshake = true
        if connection.hasBegunHandshake { begun.append(connection) } else { new.append(connection) }
    }

    /// Takes out the first few, which go on now; the rest hears nothing of its sockets until then.
    mutating func takeTurn() -> [Connection] {
        var turn = begun.take(Limits.handshakeStepsPerTurnCountMax)
        turn += new.take(Limits.handshakeStepsPerTurnCountMax - turn.count)
        for connection in turn { connection.awaitsHandshake = false }
        begun.pauseRest()
        new.pauseRest()
        return turn
    }

    private struct Line {
        private var connections: [Connection] = []
        /// Where the first one is; what is before it had its turn.
        private var head = 0
        /// How many are paused, or had their turn.
        private var pausedCount = 0

        var isEmpty: Bool { head == connections.count }

        mutating func append(_ connection: Connection) { connections.append(connection) }

        mutating func take(_ countMax: Int) -> [Connection] {
            let taken = Array(connections[head...].prefix(countMax))
            head += taken.count
            pausedCount = max(pausedCount, head)
            if isEmpty || head >= 1024 {
                connections.removeFirst(head)
                (pausedCount, head) = (pausedCount - head, 0)
            }
            return taken
        }

        mutating func pauseRest() {
            while pausedCount < connections.count {
                connections[pausedCount].pauseHandshake()
                pausedCount += 1
            }
        }
    }
}

/// A connection as its line sees it.
protocol HandshakeTaker: AnyObject {
    /// In the line.
    var awaitsHandshake: Bool { get set }
    /// The first step of the handshake is done.
    var hasBegunHandshake: Bool { get }
    /// Hears nothing of the socket while the handshake waits for its turn.
    func pauseHandshake()
}
