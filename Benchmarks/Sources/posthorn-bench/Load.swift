// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Controls publishers, and keeps account: every number sent must be accepted once and delivered once.
final class Load {
    /// The pacing of publishers.
    enum Pace {
        /// Each connection keeps this many requests outstanding.
        case closed(outstanding: Int)
        /// Notifications are sent at this rate, regardless of the answers.
        case open(perSecond: Double)
    }

    /// The time without any arrival after which missing notifications count as lost.
    private static let patienceNanoseconds = 30_000_000_000

    private let loop: Loop
    private let publishers: [Publisher]
    private let topicCount: Int
    /// Whether devices are connected, so that each notification must also be delivered.
    private let isDelivered: Bool
    /// Whether a notification may arrive again, as in a cluster; a device recognizes it by its ID.
    private let mayArriveAgain: Bool
    private var again = 0
    private var payload = Payload()
    /// Derived from the process ID, so that notifications left by another process are not counted.
    private var run = Int(getpid()) % 9999 * 100
    private var pace = Pace.closed(outstanding: 1)
    private var count = 0
    private var sent = 0
    private var accepted = 0
    private(set) var delivered = 0
    private var wasDelivered: [UInt64] = []
    private var startNanoseconds = 0
    private var acceptedNanoseconds = 0
    private var lastProgress = 0
    private var progress = 0
    /// The time of each answer, in runs that send one notification after the other.
    private var acceptedMoments: [Int]?
    private var acceptance = Histogram()
    private var delivery = Histogram()
    private var nextTopic = 0

    init(_ loop: Loop, _ publishers: [Publisher], topicCount: Int, isDelivered: Bool, mayArriveAgain: Bool) {
        self.loop = loop
        self.publishers = publishers
        self.topicCount = topicCount
        self.isDelivered = isDelivered
        self.mayArriveAgain = mayArriveAgain
        for publisher in publishers { publisher.load = self }
    }

    /// Sends notifications, waits until all have arrived, and returns the figures as JSON members.
    func perform(_ count: Int, _ pace: Pace) -> String {
        run += 1
        self.count = count
        self.pace = pace
        (sent, accepted, delivered, again) = (0, 0, 0, 0)
        wasDelivered = [UInt64](repeating: 0, count: count / 64 + 1)
        acceptance = Histogram()
        delivery = Histogram()
        startNanoseconds = monotonicNanoseconds()
        lastProgress = startNanoseconds
        loop.atEndOfTurn = { [unowned self] in self.endTurn() }
        loop.run()
        let now = monotonicNanoseconds()
        let seconds = Double(now - startNanoseconds) / 1e9
        let acceptSeconds = Double(acceptedNanoseconds - startNanoseconds) / 1e9
        return "\"count\":\(count),\"seconds\":\(seconds),\"accept_seconds\":\(acceptSeconds),"
            + "\"delivered\":\(delivered),\"again\":\(again),\"accept\":\(acceptance.json),\"deliver\":\(delivery.json)"
    }

    /// Sends one notification at a time, and also returns the time of each answer.
    func performSingly(_ count: Int, perSecond: Double) -> String {
        acceptedMoments = []
        defer { acceptedMoments = nil }
        return perform(count, .open(perSecond: perSecond)) + ",\"accepted_ns\":\(acceptedMoments ?? [])"
    }

    /// Handles an answer of the server.
    func completed(_ publisher: Publisher, sentNanoseconds: Int) {
        let now = monotonicNanoseconds()
        acceptance.add(now - sentNanoseconds)
        acceptedMoments?.append(now)
        accepted += 1
        publisher.outstanding -= 1
        if accepted == count { acceptedNanoseconds = monotonicNanoseconds() }
    }

    /// Handles a message that a device received; the caller acknowledges it.
    func delivered(_ message: UnsafeRawBufferPointer) {
        guard let stamp = Payload.stamp(in: message) else { fail("a delivery without its stamp") }
        guard stamp.run == run, stamp.number < count else { return }
        let bit = UInt64(1) << UInt64(stamp.number & 63)
        guard wasDelivered[stamp.number >> 6] & bit == 0 else {
            guard mayArriveAgain else { fail("number \(stamp.number) was delivered twice") }
            return again += 1
        }
        wasDelivered[stamp.number >> 6] |= bit
        delivered += 1
        delivery.add(monotonicNanoseconds() - stamp.sentNanoseconds)
    }

    private func endTurn() -> Int {
        sendWhatIsDue()
        if sent == count, accepted == count, !isDelivered || delivered == count { loop.stop() }
        let now = monotonicNanoseconds()
        if progress != sent + accepted + delivered {
            progress = sent + accepted + delivered
            lastProgress = now
        }
        guard now - lastProgress < Self.patienceNanoseconds else {
            fail("lost: of \(count), \(sent) were sent, \(accepted) accepted, \(delivered) delivered")
        }
        guard case .open(let perSecond) = pace, sent < count else { return 1_000_000_000 }
        return max(0, startNanoseconds + Int(Double(sent) / perSecond * 1e9) - now)
    }

    private func sendWhatIsDue() {
        switch pace {
        case .closed(let outstanding):
            for publisher in publishers {
                while sent < count, publisher.outstanding < outstanding, publisher.canSend { send(by: publisher) }
            }
        case .open(let perSecond):
            let due = min(count, Int(Double(monotonicNanoseconds() - startNanoseconds) / 1e9 * perSecond) + 1)
            while sent < due {
                let publisher = publishers[sent % publishers.count]
                guard publisher.canSend, acceptedMoments == nil || publisher.outstanding == 0 else { return }
                send(by: publisher)
            }
        }
    }

    private func send(by publisher: Publisher) {
        payload.stamp(run: run, number: sent)
        publisher.outstanding += 1
        publisher.send(payload.bytes, topic: nextTopic)
        sent += 1
        nextTopic = nextTopic + 1 == topicCount ? 0 : nextTopic + 1
    }

    // MARK: Broadcasts

    /// Has one message sent to every device, and returns the time until the last device received it.
    func broadcast(by publisher: Publisher, to deviceCount: Int) -> String {
        run += 1
        (count, accepted) = (0, 0)
        delivery = Histogram()
        broadcastRemaining = deviceCount
        payload.stamp(run: run, number: 0)
        publisher.outstanding += 1
        lastProgress = monotonicNanoseconds()
        startNanoseconds = lastProgress
        publisher.broadcast(payload.bytes)
        loop.atEndOfTurn = { [unowned self] in
            if broadcastRemaining == 0, accepted == 1 { loop.stop() }
            guard monotonicNanoseconds() - lastProgress < Self.patienceNanoseconds else {
                fail("lost: \(broadcastRemaining) of \(deviceCount) devices did not get the broadcast")
            }
            return 1_000_000_000
        }
        loop.run()
        let seconds = Double(monotonicNanoseconds() - startNanoseconds) / 1e9
        return "\"count\":\(deviceCount),\"seconds\":\(seconds),\"deliver\":\(delivery.json)"
    }

    private(set) var broadcastRemaining = 0

    /// Handles a broadcast that a device received.
    func broadcastDelivered(_ message: UnsafeRawBufferPointer) {
        guard let stamp = Payload.stamp(in: message), stamp.run == run else { return }
        broadcastRemaining -= 1
        delivery.add(monotonicNanoseconds() - stamp.sentNanoseconds)
    }

    /// Handles each message that a device receives.
    func arrived(_ message: UnsafeRawBufferPointer) {
        if isDraining {
            drained += 1
            drainEnd = monotonicNanoseconds()
        } else if broadcastRemaining > 0 {
            broadcastDelivered(message)
        } else {
            delivered(message)
        }
    }

    // MARK: Notifications that wait for reconnecting devices

    private var isDraining = false
    private var drainStart = 0
    private var drainEnd = 0
    /// The number of notifications delivered since `startDrain`, from any sender.
    private(set) var drained = 0
    var drainSeconds: Double { Double(drainEnd - drainStart) / 1e9 }

    /// Starts to count deliveries without checking them.
    func startDrain() {
        isDraining = true
        drained = 0
        drainStart = monotonicNanoseconds()
    }
}
