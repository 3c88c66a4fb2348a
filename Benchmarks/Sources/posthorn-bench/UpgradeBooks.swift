// SPDX-License-Identifier: Apache-2.0

/// Records for each notification of a run when it was sent, and whether it was accepted and delivered.
class UpgradeBooks {
    private struct Record {
        let sentNanoseconds: Int
        /// The sequence number under which its device first received it; 0 before that.
        var sequence = 0
        var isAccepted = false
    }

    private var records: [Record] = []
    private var accepted = 0
    private var delivered = 0
    /// The number of repeated deliveries that devices ignore: see `isKnown`.
    private var deliveredAgain = 0
    /// The number of repeated deliveries that a device shows twice.
    private var shownTwice = 0
    private var acceptance = Histogram()
    private var delivery = Histogram()
    private var absence = Histogram()
    /// The absences of devices that no node refused.
    private var shortAbsence = Histogram()
    /// The number of streams that a node refused because it takes no devices.
    var refusedStreams = 0
    /// The number of connections that the kernel refused.
    var refusedConnections = 0
    /// The number of connections that ended without GOAWAY.
    var brokenConnections = 0
    /// The number of requests that were repeated because GOAWAY said that they were not processed.
    var unprocessed = 0
    /// The number of requests that were repeated because their status was 500 or above.
    var rejected = 0
    /// The number of requests that were repeated because no answer arrived, although the server may have accepted them.
    var unanswered = 0

    init(count: Int) { records.reserveCapacity(count) }

    /// Records a notification that is about to be sent to a device for the first time, and returns its number.
    func add(to device: Int) -> Int {
        records.append(Record(sentNanoseconds: monotonicNanoseconds()))
        return records.count - 1
    }

    func accept(_ number: Int) {
        records[number].isAccepted = true
        accepted += 1
        acceptance.add(monotonicNanoseconds() - records[number].sentNanoseconds)
    }

    /// Records a delivery to a device; `message` contains the notification.
    func arrived(_ number: Int, at device: Int, sequence: Int, _ message: UnsafeRawBufferPointer) {
        guard number < records.count else { fail("a device received number \(number), which was not sent") }
        guard records[number].sequence > 0 else {
            records[number].sequence = sequence
            delivered += 1
            return delivery.add(monotonicNanoseconds() - records[number].sentNanoseconds)
        }
        if isKnown(number, sequence: sequence, message) { deliveredAgain += 1 } else { shownTwice += 1 }
    }

    /// Returns whether a device ignores a repeated delivery.
    func isKnown(_ number: Int, sequence: Int, _ message: UnsafeRawBufferPointer) -> Bool {
        records[number].sequence == sequence
    }

    /// Returns whether the next delivery of a notification is its first, and when the notification was sent.
    func record(of number: Int) -> (isFirst: Bool, sentNanoseconds: Int) {
        (records[number].sequence == 0, records[number].sentNanoseconds)
    }

    /// Records the time for which a device was away, and whether a node refused it meanwhile.
    func returned(after nanoseconds: Int, wasRefused: Bool) {
        absence.add(nanoseconds)
        if !wasRefused { shortAbsence.add(nanoseconds) }
    }

    /// Ignores the end of a stream, which an upgrade causes; subclasses may record it.
    func streamEnded(of device: Int, _ reason: String) {}

    /// Starts a new period for the latencies.
    func startPeriod() {
        (acceptance, delivery) = (Histogram(), Histogram())
        (absence, shortAbsence) = (Histogram(), Histogram())
    }

    /// Returns the counts as JSON members; latencies are those of the period.
    var counts: String {
        let lost = records.count { $0.isAccepted && $0.sequence == 0 }
        return "\"sent\":\(records.count),\"accepted\":\(accepted),\"delivered\":\(delivered),\"lost\":\(lost),"
            + "\"delivered_again\":\(deliveredAgain),\"shown_twice\":\(shownTwice),"
            + "\"refused_connections\":\(refusedConnections),\"broken_connections\":\(brokenConnections),"
            + "\"unprocessed\":\(unprocessed),\"rejected\":\(rejected),\"unanswered\":\(unanswered),"
            + "\"refused_streams\":\(refusedStreams),\"absence\":\(absence.json),"
            + "\"short_absence\":\(shortAbsence.json),"
            + "\"accept\":\(acceptance.json),\"deliver\":\(delivery.json)"
    }
}
