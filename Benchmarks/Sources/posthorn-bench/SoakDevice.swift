// SPDX-License-Identifier: Apache-2.0

/// What a device of a soak is, over all its streams.
struct SoakHabit {
    enum Kind {
        /// Is connected from the beginning to the end.
        case steady
        /// Comes and goes within seconds.
        case restless
        /// Is away for so long that not all can wait for it.
        case rare
    }

    let kind: Kind

    /// Of 20 devices, 12 are steady and one is rare.
    init(number: Int) {
        switch number % 20 {
        case 0..<12: kind = .steady
        case 19: kind = .rare
        default: kind = .restless
        }
    }

    /// How long it stays, and how long it stays away, in seconds.
    var here: ClosedRange<Double> { kind == .rare ? 5...15 : 1...20 }
    var away: ClosedRange<Double> { kind == .rare ? 60...100 : 0.01...10 }
}

/// One stream of a device in a soak.
final class SoakDevice: WebSocketDevice {
    /// Payloads of broadcasts are stamped with this run, all others with another.
    static let broadcastRun = 2

    private let books: SoakBooks
    private let isSteady: Bool
    /// Whether it takes everything and acknowledges nothing: it all comes again.
    let isSilent: Bool
    private var lastSequence = 0
    /// The last broadcast that it got on any stream; -1 when there was none.
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
        if sequence > 0, sequence <= lastSequence {
            books.problem("device \(number) got sequence \(sequence) behind \(lastSequence) on one stream")
        }
        lastSequence = max(lastSequence, sequence)
        if stamp.run == Self.broadcastRun {
            broadcastArrived(stamp.number)
        } else {
            books.arrived(at: number, stamp, sequence: sequence, isSteady: isSteady)
        }
        return !isSilent
    }

    /// A steady device gets each; another one the newest, and that again when it may not have acknowledged it.
    private func broadcastArrived(_ broadcast: Int) {
        books.broadcastArrived()
        if isSteady ? broadcast != lastBroadcast + 1 : broadcast < lastBroadcast {
            books.problem("device \(number) got broadcast \(broadcast) behind \(lastBroadcast)")
        }
        lastBroadcast = broadcast
    }

    override func lost(_ reason: String) { books.problem("device \(number) lost its stream: \(reason)") }
}
