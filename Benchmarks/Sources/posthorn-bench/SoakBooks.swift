// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The books of a soak: what became of each notification, by its number.
final class SoakBooks {
    /// What a provider asks for, which says what may become of it.
    enum Kind: UInt8 {
        /// Waits for its device.
        case plain
        /// A newer one with its key may replace it.
        case collapsing
        /// Goes to whoever is connected.
        case nowOrNever
        /// Waits for a few seconds.
        case expiring
        /// Is not accepted.
        case refused
    }

    private enum State: UInt8 { case sent, accepted, refused }

    private struct Record {
        /// The lower half of the number under which the device got it first.
        var sequence: UInt32 = 0
        /// The key of a collapsing one, the expiration of an expiring one.
        let detail: UInt32
        let device: UInt16
        let kind: Kind
        var state = State.sent
        var isDelivered = false
    }

    /// Clocks are read at both ends of a way that others' work may hold up.
    private static let lateSecondsMax = 3
    private static let shownProblemCount = 20

    private var records: [Record] = []
    /// The newest that was accepted of each key.
    private var newest: [UInt32: Int] = [:]
    private(set) var accepted = 0
    private(set) var refused = 0
    private(set) var delivered = 0
    /// What came on a later stream again.
    private(set) var deliveredAgain = 0
    private(set) var broadcasts = 0
    private(set) var broadcastDeliveries = 0
    private(set) var acceptance = Histogram()
    private(set) var delivery = Histogram()
    private var problemCount = 0
    private var problems: [String] = []

    var sent: Int { records.count }

    /// Memory is reserved first: copying it later would hold everything up.
    init(count: Int) { records.reserveCapacity(count) }

    func problem(_ text: String) {
        problemCount += 1
        if problems.count < Self.shownProblemCount { problems.append(text) }
    }

    /// Notes one that is about to be sent, and answers its number.
    func add(_ kind: Kind, device: Int, detail: Int) -> Int {
        records.append(
            Record(detail: UInt32(truncatingIfNeeded: detail), device: UInt16(truncatingIfNeeded: device), kind: kind))
        return records.count - 1
    }

    /// The server answered.
    func answered(_ number: Int, status: Int, expected: Int, sentNanoseconds: Int) {
        acceptance.add(monotonicNanoseconds() - sentNanoseconds)
        let record = records[number]
        if status != expected { problem("number \(number), \(record.kind), was answered with status \(status)") }
        records[number].state = status == 200 ? .accepted : .refused
        guard status == 200 else { return refused += 1 }
        accepted += 1
        if record.kind == .collapsing { newest[record.detail] = max(newest[record.detail] ?? 0, number) }
    }

    func broadcastAnswered(status: Int) {
        if status == 200 { broadcasts += 1 } else { problem("a broadcast was answered with status \(status)") }
    }

    /// A device got a notification; latencies are of those that need not wait for their device.
    func arrived(at device: Int, _ stamp: Payload.Stamp, sequence: Int, isSteady: Bool) {
        guard stamp.number < records.count else { return problem("device \(device) got a number that was not sent") }
        let record = records[stamp.number]
        if Int(record.device) != device { problem("device \(device) got number \(stamp.number) of \(record.device)") }
        if record.kind == .refused { problem("number \(stamp.number) was refused and delivered") }
        if record.kind == .expiring, time(nil) > Int(record.detail) + Self.lateSecondsMax {
            problem("number \(stamp.number) came \(time(nil) - Int(record.detail)) s after its expiration")
        }
        guard record.isDelivered else {
            records[stamp.number].isDelivered = true
            records[stamp.number].sequence = UInt32(truncatingIfNeeded: sequence)
            delivered += 1
            if isSteady { delivery.add(monotonicNanoseconds() - stamp.sentNanoseconds) }
            return
        }
        deliveredAgain += 1
        if record.sequence != UInt32(truncatingIfNeeded: sequence) {
            problem("number \(stamp.number) came under two sequences")
        }
    }

    func broadcastArrived() { broadcastDeliveries += 1 }

    /// What happened so far, as JSON members; latencies since the last time.
    func takeCounts() -> String {
        defer { (acceptance, delivery) = (Histogram(), Histogram()) }
        return "\"sent\":\(sent),\"accepted\":\(accepted),\"refused\":\(refused),\"delivered\":\(delivered),"
            + "\"delivered_again\":\(deliveredAgain),\"broadcasts\":\(broadcasts),"
            + "\"broadcast_deliveries\":\(broadcastDeliveries),\"problem_count\":\(problemCount),"
            + "\"accept\":\(acceptance.json),\"deliver\":\(delivery.json)"
    }

    /// The balance, as JSON members: why those did not come that were accepted, each for a reason that its kind allows.
    func balance(isSteady: (Int) -> Bool, mayOverflow: (Int) -> Bool) -> String {
        var (replaced, expired, dropped, unanswered) = (0, 0, 0, 0)
        for (number, record) in records.enumerated() where !record.isDelivered {
            guard record.state != .sent else {
                unanswered += 1
                continue
            }
            guard record.state == .accepted else { continue }
            switch record.kind {
            case .plain where mayOverflow(Int(record.device)): dropped += 1
            case .collapsing where newest[record.detail] ?? 0 > number: replaced += 1
            case .expiring: expired += 1
            case .nowOrNever where !isSteady(Int(record.device)): expired += 1
            case .plain, .collapsing, .nowOrNever, .refused:
                problem("number \(number), \(record.kind), is lost: device \(record.device)")
            }
        }
        if unanswered > 0 { problem("\(unanswered) have no answer") }
        let texts = problems.map { "\"\($0)\"" }.joined(separator: ",")
        return "\"replaced\":\(replaced),\"expired\":\(expired),\"dropped\":\(dropped),"
            + "\"unanswered\":\(unanswered),\"problems\":[\(texts)]"
    }
}
