// SPDX-License-Identifier: Apache-2.0

internal import PayloadLint
internal import PushCore
internal import PushHTTP
internal import PushStore

/// Checks the payloads of a loop as their apps require.
///
/// A payload must be JSON. The linter checks how users will perceive it: with `strict` each payload, with `warn` a
/// sample, because it would take a third of a loop's instructions for a notification.
final class PayloadValidator {
    /// An app on a device.
    fileprivate struct AppOnDevice: Hashable {
        var device: DeviceID
        var topic: TopicID
    }

    /// The maximum number of warnings in one response.
    private static let warningCountMax = 8

    /// The payloads of an app that were linted in an hour.
    private struct Sample {
        /// The hour, counted from 1970.
        var hour: Int64
        var payloadCount = 0
    }

    private var samples = RecentMap<TopicID, Sample>(countMax: Limits.lintSampleCountMax)
    private var histories = RecentMap<AppOnDevice, PayloadHistory>(countMax: Limits.payloadHistoryCountMax)
    /// The last findings for which a payload was not refused, and the warnings about them.
    private var latest: (findings: [PayloadFinding], checks: PayloadChecks, warnings: PayloadWarnings?)?

    /// The result of a check: the warnings, and the alert to remember when the notification is sent.
    struct ValidationResult {
        /// The warnings for the response, most serious first; nil without warnings.
        var warnings: PayloadWarnings?
        /// The alert to remember; nil if nothing is remembered.
        fileprivate var memory: (appOnDevice: AppOnDevice, time: Timestamp, alert: PayloadHistory.Alert)?
    }

    /// Refuses a payload, or returns the warnings about it.
    ///
    /// - Parameters:
    ///   - payload: A payload that is neither empty nor too large.
    ///   - pushType: The push type; nil if the provider sent none.
    ///   - app: The app, which selects the checks.
    ///   - device: The device whose history of alerts counts; nil for a broadcast.
    ///   - isRequested: Whether the provider asked for the linter.
    ///   - now: The wall-clock time.
    /// - Returns: The result. Pass it to `note` when the notification is sent.
    /// - Throws: `PayloadEmpty` for a payload that is not a JSON object, and with `strict` for a finding of severity E.
    func validate(
        _ payload: [UInt8], _ pushType: PushType?, of app: TopicDirectory.Entry, on device: DeviceID?,
        isRequested: Bool, now: Timestamp
    ) throws(Rejection) -> ValidationResult {
        guard isLinted(app, isRequested: isRequested, hour: now.unixSeconds / 3600) else {
            try Self.validate(payload)
            return ValidationResult()
        }
        // The history counts whole seconds.
        let now = now.roundedDownToSeconds
        let appOnDevice = device.map { AppOnDevice(device: $0, topic: app.topic.id) }
        let history = appOnDevice.map { recall($0, now: now) }
        let verdict = PayloadLinter.lint(
            payload: payload.span, pushType: pushType, appName: app.topic.displayName, history: history)
        var result = ValidationResult()
        if let appOnDevice, let alert = verdict.alert { result.memory = (appOnDevice, now, alert) }
        if !verdict.findings.isEmpty { result.warnings = try warnings(of: verdict.findings, app.topic.checks) }
        return result
    }

    /// Returns whether to lint the next payload of an app, and counts it in the app's sample.
    private func isLinted(_ app: TopicDirectory.Entry, isRequested: Bool, hour: Int64) -> Bool {
        switch app.topic.checks {
        case .off: return false
        case .strict: return true
        case .warn: break
        }
        if isRequested { return true }
        let id = app.topic.id
        if let sample = samples.find(id), sample.hour == hour, sample.payloadCount >= Limits.lintedPayloadsPerHourCount
        {
            return false
        }
        samples.change(id, from: Sample(hour: hour)) { sample in
            if sample.hour != hour { sample = Sample(hour: hour) }
            sample.payloadCount += 1
        }
        return true
    }

    /// Returns the warnings about findings, which are usually the same as in the payload before this one.
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
        // The size was checked already, and a broadcast may be larger.
        let errors = findings.filter { $0.severity == .error && $0.check != .tooLarge }
        if checks == .strict, let first = errors.first { throw Rejection(.payloadEmpty, first.line) }
        let warnings = errors + findings.filter { $0.severity == .warning }
        return warnings.isEmpty ? nil : PayloadWarnings(lines: warnings.prefix(warningCountMax).map(\.line))
    }

    /// Checks the payload of a notification that will be refused anyway, so that its warnings are not needed.
    ///
    /// - Parameters:
    ///   - payload: A payload that is neither empty nor too large.
    ///   - pushType: The push type; nil if the provider sent none.
    ///   - app: The app, which selects the checks.
    /// - Throws: The same rejections as a complete check.
    func validateRefused(_ payload: [UInt8], _ pushType: PushType?, of app: TopicDirectory.Entry) throws(Rejection) {
        guard app.topic.checks == .strict else { return try Self.validate(payload) }
        _ = try validate(payload, pushType, of: app, on: nil, isRequested: false, now: .unixEpoch)
    }

    private static func validate(_ payload: [UInt8]) throws(Rejection) {
        do throws(JSONError) { try JSONValidator.validateObject(payload.span) } catch {
            throw malformed(PayloadAdvice.sentence(for: error, in: payload.span))
        }
    }

    /// Remembers the alert of a notification that is sent.
    func note(_ result: ValidationResult, _ pushType: PushType?) {
        guard let memory = result.memory else { return }
        histories.change(memory.appOnDevice, from: PayloadHistory(now: memory.time)) { history in
            history.now = memory.time
            history.note(memory.alert, pushType: pushType)
        }
    }

    private func recall(_ appOnDevice: AppOnDevice, now: Timestamp) -> PayloadHistory {
        guard var history = histories.find(appOnDevice) else { return PayloadHistory(now: now) }
        history.now = now
        return history
    }

    private static func malformed(_ sentence: String) -> Rejection {
        Rejection(.payloadEmpty, "The payload is not a JSON object: \(sentence)")
    }
}

/// The warnings in the response to an accepted notification, kept as the exchange's context until then.
final class PayloadWarnings {
    /// The values of `posthorn-warning`.
    let lines: [String]
    /// The notification's daily counts; nil if no daily limit applies.
    let counted: CountedNotification?

    init(lines: [String], counted: CountedNotification? = nil) {
        self.lines = lines
        self.counted = counted
    }
}
