// SPDX-License-Identifier: Apache-2.0

/// The habits of a device in a soak, across all its streams.
struct SoakHabit {
    enum Kind {
        /// Is connected from the beginning to the end.
        case steady
        /// Connects and disconnects within seconds.
        case restless
        /// Is disconnected for so long that some notifications are dropped.
        case rare
    }

    let kind: Kind

    /// Assigns a kind by number: of 20 devices, 12 are steady, 7 restless and one rare.
    init(number: Int) {
        switch number % 20 {
        case 0..<12: kind = .steady
        case 19: kind = .rare
        default: kind = .restless
        }
    }

    /// The range of the connected time in seconds; `away` is that of the disconnected time.
    var here: ClosedRange<Double> { kind == .rare ? 5...15 : 1...20 }
    var away: ClosedRange<Double> { kind == .rare ? 60...100 : 0.01...10 }
}

/// One stream of a device in a soak.
final class SoakDevice: WebSocketDevice {
    /// The run in the stamps of broadcasts; all other payloads have another run.
    static let broadcastRun = 2

    private let books: SoakBooks
    private let isSteady: Bool
    /// Whether the device acknowledges nothing, so that all notifications are delivered again.
    let isSilent: Bool
    private var lastSequence = 0
    /// The last broadcast that the device received on any stream; -1 before the first.
    private(set) var lastBroadcast: Int

    init(
        _ loop: Loop, _ target: Target, _ number: Int, _ identity: DeviceIdentity, books: SoakBooks, isSteady: Bool,
        isSilent: Bool, lastBroadcast: Int
    ) {
        self.books = books
        self.isSteady = isSteady
        self.isSilent = isSilent
        self.lastBroadcast = lastBroadcast
        super.init(loop, target, number, identity)
    }

    override func arrived(_ message: UnsafeRawBufferPointer, sequence: Int) -> Bool {
        guard let stamp = Payload.stamp(in: message) else { fail("a delivery without its stamp") }
        if stamp.run == Self.broadcastRun {
            broadcastArrived(stamp.number)
        } else {
            if sequence > 0, sequence <= lastSequence {
                books.problem("device \(number) got sequence \(sequence) behind \(lastSequence) on one stream")
            }
            lastSequence = max(lastSequence, sequence)
            books.arrived(at: number, stamp, sequence: sequence, isSteady: isSteady)
        }
        return !isSilent
    }

    /// Handles a broadcast: steady devices receive each; others receive the newest, again if it may be unacknowledged.
    private func broadcastArrived(_ broadcast: Int) {
        books.broadcastArrived()
        if isSteady ? broadcast != lastBroadcast + 1 : broadcast < lastBroadcast {
            books.problem("device \(number) got broadcast \(broadcast) behind \(lastBroadcast)")
        }
        lastBroadcast = broadcast
    }

    override func lost(_ reason: String) { books.problem("device \(number) lost its stream: \(reason)") }
}
