// SPDX-License-Identifier: Apache-2.0

/// The books of an outage, in which each notification is sent once and recognized by its unique ID.
final class OutageBooks: UpgradeBooks {
    private struct Attempt {
        let device: Int
        /// The time of the answer 200; 0 before that.
        var acceptedNanoseconds = 0
        /// The hash of the unique ID in the first delivery.
        var uniqueID = 0
    }

    private struct Shown {
        let number: Int
        let sequence: Int
        let sentNanoseconds: Int
    }

    /// The first device that is away.
    var firstAway: Int
    private var attempts: [Attempt] = []
    private static let shownProblemCount = 20
    /// The last-sent notification among those that each device has received.
    private var latest: [Int: Shown] = [:]
    private var problems: [String] = []
    private var streamEnds: [String] = []
    private var acceptedAway = 0
    private var outOfOrder = 0
    private var misdirected = 0
    private var refusal = Histogram()
    private var shortestRefusal: Int?
    private var lastAcceptance = monotonicNanoseconds()
    private var longestPause = 0

    init(count: Int, firstAway: Int) {
        self.firstAway = firstAway
        super.init(count: count)
        attempts.reserveCapacity(count)
    }

    override func add(to device: Int) -> Int {
        attempts.append(Attempt(device: device))
        return super.add(to: device)
    }

    override func accept(_ number: Int) {
        super.accept(number)
        let now = monotonicNanoseconds()
        attempts[number].acceptedNanoseconds = now
        if attempts[number].device >= firstAway { acceptedAway += 1 }
        longestPause = max(longestPause, now - lastAcceptance)
        lastAcceptance = now
    }

    /// Records a request that was not accepted; returns false if it got no answer.
    func refuse(_ number: Int, status: Int) -> Bool {
        guard status > 0 else { return false }
        guard status == 503 else { fail("a notification was answered with status \(status)") }
        let duration = monotonicNanoseconds() - record(of: number).sentNanoseconds
        refusal.add(duration)
        shortestRefusal = min(shortestRefusal ?? duration, duration)
        return true
    }

    override func arrived(_ number: Int, at device: Int, sequence: Int, _ message: UnsafeRawBufferPointer) {
        guard number < attempts.count else { fail("a device received number \(number), which was not sent") }
        if attempts[number].device != device { misdirected += 1 }
        let (isFirst, sent) = record(of: number)
        if isFirst {
            attempts[number].uniqueID = uniqueID(in: message)
            checkOrder(of: Shown(number: number, sequence: sequence, sentNanoseconds: sent), at: device)
        }
        super.arrived(number, at: device, sequence: sequence, message)
    }

    /// Counts a notification that arrives after another one, although it was accepted before that one was sent.
    private func checkOrder(of one: Shown, at device: Int) {
        let accepted = attempts[one.number].acceptedNanoseconds
        guard let other = latest[device], one.sentNanoseconds <= other.sentNanoseconds else {
            return latest[device] = one
        }
        guard accepted > 0, accepted < other.sentNanoseconds else { return }
        outOfOrder += 1
        guard problems.count < Self.shownProblemCount else { return }
        let taken = (accepted - one.sentNanoseconds) / 1000
        let later = (other.sentNanoseconds - accepted) / 1000
        problems.append(
            "device \(device) showed \(other.number) as \(other.sequence) before \(one.number) as \(one.sequence), which "
                + "was accepted after \(taken) us, \(later) us before the other one was sent")
    }

    override func isKnown(_ number: Int, sequence: Int, _ message: UnsafeRawBufferPointer) -> Bool {
        attempts[number].uniqueID == uniqueID(in: message)
    }

    private func uniqueID(in message: UnsafeRawBufferPointer) -> Int {
        guard let text = message.text(after: #""unique-id":""#) else { fail("a delivery without a unique ID") }
        return text.hashValue
    }

    override func streamEnded(of device: Int, _ reason: String) {
        if streamEnds.count < Self.shownProblemCount { streamEnds.append("device \(device): \(reason)") }
    }

    override func startPeriod() {
        super.startPeriod()
        (refusal, shortestRefusal, longestPause) = (Histogram(), nil, 0)
    }

    override var counts: String {
        let pause = max(longestPause, monotonicNanoseconds() - lastAcceptance)
        let missing = attempts.indices.count { number in
            let attempt = attempts[number]
            return attempt.acceptedNanoseconds > 0 && attempt.device < firstAway && record(of: number).isFirst
        }
        return super.counts + ",\"missing\":\(missing),\"accepted_away\":\(acceptedAway),"
            + "\"out_of_order\":\(outOfOrder),\"problems\":\(problems),\"stream_ends\":\(streamEnds),"
            + "\"misdirected\":\(misdirected),\"longest_pause_us\":\(pause / 1000),\"refusal\":\(refusal.json),"
            + "\"shortest_refusal_us\":\(shortestRefusal.map { String($0 / 1000) } ?? "null")"
    }
}
