// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushStore

/// Looks at payloads as their app wants it: that they are JSON, and with `warn` and `strict` what people will think of
/// them; one of each loop.
final class PayloadJudge {
    /// One app on one device.
    private struct Place: Hashable {
        var device: DeviceID
        var topic: TopicID
    }

    /// Warnings that one answer carries.
    private static let warningCountMax = 8

    private var histories = Generations<Place, PayloadHistory>(countMax: Limits.payloadHistoryCountMax)

    /// Refuses a payload, or tells what is to be said about it.
    ///
    /// - Parameters:
    ///   - payload: Not empty, and not too large.
    ///   - pushType: nil when the provider gave none.
    ///   - topic: Says how to judge.
    ///   - device: Whose history of alerts counts; nil for a broadcast.
    ///   - unixSeconds: Wall clock.
    /// - Returns: What the answer warns of, the gravest first; nil for nothing.
    /// - Throws: `PayloadEmpty` for what is no JSON object, and with `strict` for a finding of severity E.
    func judge(
        _ payload: [UInt8], _ pushType: PushType?, of topic: Topic, on device: DeviceID?, unixSeconds: Int64
    ) throws(Rejection) -> PayloadWarnings? {
        guard topic.checks != .off else {
            try Self.validate(payload)
            return nil
        }
        let history = device.map { recall(Place(device: $0, topic: topic.id), now: unixSeconds) }
        let findings = PayloadLinter.findings(
            payload: payload.span, pushType: pushType, appName: topic.displayName, history: history)
        guard !findings.isEmpty else { return nil }
        if let finding = findings.first(where: { $0.check == .malformed }) { throw Self.malformed(finding.text) }
        // The size was checked already, and a broadcast's may be larger.
        let errors = findings.filter { $0.severity == .error && $0.check != .tooLarge }
        if topic.checks == .strict, let first = errors.first { throw Rejection(.payloadEmpty, first.line) }
        let warnings = errors + findings.filter { $0.severity == .warning }
        return warnings.isEmpty ? nil : PayloadWarnings(lines: warnings.prefix(Self.warningCountMax).map(\.line))
    }

    /// Refuses a payload of a notification that is refused for what follows: nobody will read its warnings.
    ///
    /// - Parameters:
    ///   - payload: Not empty, and not too large.
    ///   - pushType: nil when the provider gave none.
    ///   - topic: Says how to judge.
    /// - Throws: As `judge`.
    func judgeRefused(_ payload: [UInt8], _ pushType: PushType?, of topic: Topic) throws(Rejection) {
        guard topic.checks == .strict else { return try Self.validate(payload) }
        _ = try judge(payload, pushType, of: topic, on: nil, unixSeconds: 0)
    }

    private static func validate(_ payload: [UInt8]) throws(Rejection) {
        do throws(JSONError) { try JSONValidator.validateObject(payload.span) } catch {
            throw malformed(PayloadAdvice.sentence(for: error, in: payload.span))
        }
    }

    /// Remembers an alert that goes out.
    func note(
        _ payload: [UInt8], _ pushType: PushType?, of topic: Topic, on device: DeviceID, unixSeconds: Int64
    ) {
        guard topic.checks != .off else { return }
        let place = Place(device: device, topic: topic.id)
        var history = recall(place, now: unixSeconds)
        history.note(payload.span, pushType: pushType)
        histories[place] = history
    }

    private func recall(_ place: Place, now: Int64) -> PayloadHistory {
        guard var history = histories[place] else { return PayloadHistory(nowUnixSeconds: now) }
        history.nowUnixSeconds = now
        return history
    }

    private static func malformed(_ sentence: String) -> Rejection {
        Rejection(.payloadEmpty, "The payload is no JSON object: \(sentence)")
    }
}

/// What an accepted notification's answer warns of; kept as the exchange's context until then.
final class PayloadWarnings {
    /// Values of `posthorn-warning`.
    let lines: [String]

    init(lines: [String]) { self.lines = lines }
}

/// A table that forgets: when half of it is full, the older half goes.
struct Generations<Key: Hashable, Value> {
    private let countMax: Int
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]

    init(countMax: Int) { self.countMax = countMax }

    /// A value that is set is among the young.
    subscript(key: Key) -> Value? {
        get { young[key] ?? old[key] }
        set {
            young[key] = newValue
            guard young.count >= countMax / 2 else { return }
            old = young
            young = [:]
        }
    }
}
