// SPDX-License-Identifier: Apache-2.0

/// The books of an upgrade: how often each notification was sent, and whether it was accepted and delivered.
final class UpgradeBooks {
    private struct Record {
        let sentNanoseconds: Int
        /// The sequence number under which its device first received it; 0 before that.
        var sequence = 0
        var isAccepted = false
    }

    private var records: [Record] = []
    private var accepted = 0
    private var delivered = 0
    /// Deliveries that were repeated with the same sequence number, by which a device recognizes them.
    private var deliveredAgain = 0
    /// Deliveries under another sequence number, which a device shows twice.
    private var shownTwice = 0
    private var acceptance = Histogram()
    private var delivery = Histogram()
    /// The numbers of connections that the kernel refused, and that ended without a request to leave.
    var refusedConnections = 0
    var brokenConnections = 0
    /// Requests that the provider sent again: not processed, according to GOAWAY; with an answer that asks for it; and without
    /// an answer, so that the first one may have been accepted.
    var unprocessed = 0
    var rejected = 0
    var unanswered = 0

    init(count: Int) { records.reserveCapacity(count) }

    /// Records a notification that is about to be sent for the first time, and returns its number.
    func add() -> Int {
        records.append(Record(sentNanoseconds: monotonicNanoseconds()))
        return records.count - 1
    }

    func accept(_ number: Int) {
        records[number].isAccepted = true
        accepted += 1
        acceptance.add(monotonicNanoseconds() - records[number].sentNanoseconds)
    }

    func arrived(_ number: Int, sequence: Int) {
        guard number < records.count else { fail("a device received number \(number), which was not sent") }
        guard records[number].sequence > 0 else {
            records[number].sequence = sequence
            delivered += 1
            return delivery.add(monotonicNanoseconds() - records[number].sentNanoseconds)
        }
        if records[number].sequence == sequence { deliveredAgain += 1 } else { shownTwice += 1 }
    }

    /// Starts a new period of latencies.
    func startPeriod() { (acceptance, delivery) = (Histogram(), Histogram()) }

    /// Returns the counts as JSON members; latencies are those of the period.
    var counts: String {
        let lost = records.count { $0.isAccepted && $0.sequence == 0 }
        return "\"sent\":\(records.count),\"accepted\":\(accepted),\"delivered\":\(delivered),\"lost\":\(lost),"
            + "\"delivered_again\":\(deliveredAgain),\"shown_twice\":\(shownTwice),"
            + "\"refused_connections\":\(refusedConnections),\"broken_connections\":\(brokenConnections),"
            + "\"unprocessed\":\(unprocessed),\"rejected\":\(rejected),\"unanswered\":\(unanswered),"
            + "\"accept\":\(acceptance.json),\"deliver\":\(delivery.json)"
    }
}
