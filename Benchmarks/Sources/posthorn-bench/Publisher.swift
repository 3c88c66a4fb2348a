// SPDX-License-Identifier: Apache-2.0

/// A connection that sends notifications and receives the result of each.
class Publisher: Connection {
    /// The load that this publisher serves, which sets it.
    unowned var load: Load?
    var outstanding = 0
    /// Whether the protocol's handshake is done.
    private(set) var isReady = false
    var onReady: () -> Void = {}
    /// The times at which unanswered notifications were sent, for protocols that answer in order.
    private var waiting = RingQueue()

    /// Whether another notification can be sent.
    var canSend: Bool { isOpen }

    /// Sends a payload to the topic with this number; `load.completed` must follow.
    func send(_ payload: [UInt8], topic: Int) { preconditionFailure("a publisher that cannot send") }

    /// Sends a payload to all connected devices.
    func broadcast(_ payload: [UInt8]) { fail("this protocol has no broadcast here") }

    func becomeReady() {
        guard !isReady else { return }
        isReady = true
        onReady()
    }

    func noteSent() { waiting.append(monotonicNanoseconds()) }

    func noteAnswered() {
        guard let sent = waiting.popFirst() else { fail("an answer to nothing") }
        load?.completed(self, sentNanoseconds: sent)
    }
}

/// A first-in, first-out queue that does not move its items.
struct RingQueue {
    private var items: [Int] = []
    private var first = 0

    mutating func append(_ item: Int) { items.append(item) }

    mutating func popFirst() -> Int? {
        guard first < items.count else { return nil }
        defer {
            first += 1
            if first > 4096 || first == items.count {
                items.removeFirst(first)
                first = 0
            }
        }
        return items[first]
    }
}

/// A connection that receives notifications and acknowledges each.
class Device: Connection {
    unowned var load: Load?
    let number: Int
    private(set) var isReady = false
    var onReady: () -> Void = {}
    var onLost: (() -> Void)?

    init(_ loop: Loop, _ target: Target, _ number: Int, session: OpaquePointer? = nil) {
        self.number = number
        super.init(loop, target, number: number, session: session)
    }

    func becomeReady() {
        guard !isReady else { return }
        isReady = true
        onReady()
    }

    override func lost(_ reason: String) {
        guard let onLost else { fail("device \(number) lost its connection: \(reason)") }
        onLost()
    }
}
