// SPDX-License-Identifier: Apache-2.0

/// A connection that sends notifications and hears what became of each.
class Publisher: Connection {
    /// Set by the load that it serves.
    unowned var load: Load?
    var outstanding = 0
    /// Whether the protocol's handshake is done.
    private(set) var isReady = false
    var onReady: () -> Void = {}
    /// When those were sent that are not answered yet, for protocols that answer in order.
    private var waiting = RingQueue()

    /// Whether there is room for one more.
    var canSend: Bool { isOpen }

    /// Sends a payload to a topic, by number; `load.completed` must follow.
    func send(_ payload: [UInt8], topic: Int) { preconditionFailure("a publisher that cannot send") }

    /// Sends a payload to all who listen.
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

/// First in, first out, without moving what is inside.
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
