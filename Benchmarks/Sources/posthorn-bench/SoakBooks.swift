// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The books of a soak: the result of each notification, by its number.
final class SoakBooks {
    /// The kind of a notification, which determines its allowed results.
    enum Kind: UInt8 {
        /// Waits until the device is connected.
        case plain
        /// Waits, but may be replaced by a newer notification with the same key.
        case collapsing
        /// Is delivered only to a connected device.
        case nowOrNever
        /// Waits for a few seconds.
        case expiring
        /// Is rejected by the server.
        case refused
    }

    private enum State: UInt8 { case sent, accepted, refused }

    private struct Record {
        /// The lower half of the sequence number under which the device first received it.
        var sequence: UInt32 = 0
        /// The key of a collapsing notification, or the expiration of an expiring one.
        let detail: UInt32
        let device: UInt16
        let kind: Kind
        var state = State.sent
        var isDelivered = false
    }

    /// The tolerance for expirations in seconds: both ends read their clocks, and other load may delay the delivery.
    private static let lateSecondsMax = 3
    private static let shownProblemCount = 20

    private var records: [Record] = []
    /// The newest accepted number of each key.
    private var newest: [UInt32: Int] = [:]
    private(set) var accepted = 0
    private(set) var refused = 0
    private(set) var delivered = 0
    /// The number of deliveries that a later stream repeated.
    private(set) var deliveredAgain = 0
    private(set) var broadcasts = 0
    private(set) var broadcastDeliveries = 0
    private(set) var acceptance = Histogram()
    private(set) var delivery = Histogram()
    private var problemCount = 0
    private var problems: [String] = []

    var sent: Int { records.count }

    /// Reserves the memory first, because copying it later would stall the generator.
    init(count: Int) { records.reserveCapacity(count) }

    func problem(_ text: String) {
        problemCount += 1
        if problems.count < Self.shownProblemCount { problems.append(text) }
    }

    /// Records a notification that is about to be sent, and returns its number.
    func add(_ kind: Kind, device: Int, detail: Int) -> Int {
        records.append(
            Record(detail: UInt32(truncatingIfNeeded: detail), device: UInt16(truncatingIfNeeded: device), kind: kind))
        return records.count - 1
    }

    /// Records the answer of the server.
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

    /// Records a delivery; latencies count only for notifications that need not wait for their device.
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

    /// Returns the counts so far as JSON members; latencies are those since the last call.
    func takeCounts() -> String {
        defer { (acceptance, delivery) = (Histogram(), Histogram()) }
        return "\"sent\":\(sent),\"accepted\":\(accepted),\"refused\":\(refused),\"delivered\":\(delivered),"
            + "\"delivered_again\":\(deliveredAgain),\"broadcasts\":\(broadcasts),"
            + "\"broadcast_deliveries\":\(broadcastDeliveries),\"problem_count\":\(problemCount),"
            + "\"accept\":\(acceptance.json),\"deliver\":\(delivery.json)"
    }

    /// Returns the balance as JSON members: a missing notification must have a reason that its kind allows.
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
