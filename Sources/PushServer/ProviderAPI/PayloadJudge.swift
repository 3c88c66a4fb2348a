// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushStore

/// Looks at payloads as their app wants it: that they are JSON, and with `warn` and `strict` what people will think of
/// them; one of each loop.
final class PayloadJudge {
    /// One app on one device.
    fileprivate struct Place: Hashable {
        var device: DeviceID
        var topic: TopicID
    }

    /// Warnings that one answer carries.
    private static let warningCountMax = 8

    private var histories = Generations<Place, PayloadHistory>(countMax: Limits.payloadHistoryCountMax)
    /// What was last found in a payload that was not refused for it, and what was said of it.
    private var latest: (findings: [PayloadFinding], checks: PayloadChecks, warnings: PayloadWarnings?)?

    /// What is to be said about a payload, and to be remembered of it once it goes out.
    struct Judgement {
        /// What the answer warns of, the gravest first; nil for nothing.
        var warnings: PayloadWarnings?
        /// Nil where nothing is remembered.
        fileprivate var memory: (place: Place, unixSeconds: Int64, alert: PayloadHistory.Alert)?
    }

    /// Refuses a payload, or tells what is to be said about it.
    ///
    /// - Parameters:
    ///   - payload: Not empty, and not too large.
    ///   - pushType: nil when the provider gave none.
    ///   - app: Says how to judge.
    ///   - device: Whose history of alerts counts; nil for a broadcast.
    ///   - unixSeconds: Wall clock.
    /// - Returns: The judgement; give it to `note` when the notification goes out.
    /// - Throws: `PayloadEmpty` for what is no JSON object, and with `strict` for a finding of severity E.
    func judge(
        _ payload: [UInt8], _ pushType: PushType?, of app: TopicDirectory.Entry, on device: DeviceID?,
        unixSeconds: Int64
    ) throws(Rejection) -> Judgement {
        guard app.topic.checks != .off else {
            try Self.validate(payload)
            return Judgement()
        }
        let place = device.map { Place(device: $0, topic: app.topic.id) }
        let history = place.map { recall($0, now: unixSeconds) }
        let verdict = PayloadLinter.judge(
            payload: payload.span, pushType: pushType, appName: app.topic.displayName, history: history)
        var judgement = Judgement()
        if let place, let alert = verdict.alert { judgement.memory = (place, unixSeconds, alert) }
        if !verdict.findings.isEmpty { judgement.warnings = try warnings(of: verdict.findings, app.topic.checks) }
        return judgement
    }

    /// The warnings of findings, which the payload before this one mostly had, too.
    private func warnings(of findings: [PayloadFinding], _ checks: PayloadChecks) throws(Rejection) -> PayloadWarnings?
    {
        if let latest, latest.checks == checks, latest.findings == findings { return latest.warnings }
        let warnings = try Self.warnings(of: findings, checks)
        latest = (findings, checks, warnings)
        return warnings
    }

    private static func warnings(
        of findings: [PayloadFinding], _ checks: PayloadChecks
    ) throws(Rejection) -> PayloadWarnings? {
        if let finding = findings.first(where: { $0.check == .malformed }) { throw malformed(finding.text) }
        // The size was checked already, and a broadcast's may be larger.
        let errors = findings.filter { $0.severity == .error && $0.check != .tooLarge }
        if checks == .strict, let first = errors.first { throw Rejection(.payloadEmpty, first.line) }
        let warnings = errors + findings.filter { $0.severity == .warning }
        return warnings.isEmpty ? nil : PayloadWarnings(lines: warnings.prefix(warningCountMax).map(\.line))
    }

    /// Refuses a payload of a notification that is refused for what follows: nobody will read its warnings.
    ///
    /// - Parameters:
    ///   - payload: Not empty, and not too large.
    ///   - pushType: nil when the provider gave none.
    ///   - app: Says how to judge.
    /// - Throws: As `judge`.
    func judgeRefused(_ payload: [UInt8], _ pushType: PushType?, of app: TopicDirectory.Entry) throws(Rejection) {
        guard app.topic.checks == .strict else { return try Self.validate(payload) }
        _ = try judge(payload, pushType, of: app, on: nil, unixSeconds: 0)
    }

    private static func validate(_ payload: [UInt8]) throws(Rejection) {
        do throws(JSONError) { try JSONValidator.validateObject(payload.span) } catch {
            throw malformed(PayloadAdvice.sentence(for: error, in: payload.span))
        }
    }

    /// Remembers the alert of a notification that goes out.
    func note(_ judgement: Judgement, _ pushType: PushType?) {
        guard let memory = judgement.memory else { return }
        histories.change(memory.place, from: PayloadHistory(nowUnixSeconds: memory.unixSeconds)) { history in
            history.nowUnixSeconds = memory.unixSeconds
            history.note(memory.alert, pushType: pushType)
        }
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
    /// What the notification was counted for; nil when nobody's days are counted.
    let counted: CountedNotification?

    init(lines: [String], counted: CountedNotification? = nil) {
        self.lines = lines
        self.counted = counted
    }
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
            age()
        }
    }

    /// Changes a value in its place, among the young.
    ///
    /// - Parameters:
    ///   - key: Its key.
    ///   - fresh: What is changed where there is no value yet.
    ///   - body: Changes it.
    mutating func change(_ key: Key, from fresh: @autoclosure () -> Value, _ body: (inout Value) -> Void) {
        body(&young[key, default: old[key] ?? fresh()])
        age()
    }

    private mutating func age() {
        guard young.count >= countMax / 2 else { return }
        old = young
        young = [:]
    }
}
