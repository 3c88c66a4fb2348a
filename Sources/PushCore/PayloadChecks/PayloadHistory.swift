// SPDX-License-Identifier: Apache-2.0

/// What one app sent to one device lately, as far as the checks ask: alerts, when, and which.
///
/// It has no more than eight alerts, whatever is sent; the oldest go first.
package struct PayloadHistory: Sendable, Equatable {
    /// More alerts than this within an hour are too many.
    package static let alertsPerHourCountMax = 4
    /// How long an alert counts towards that, in seconds.
    package static let frequencySeconds: Int64 = 3600
    /// How long an alert with the same texts is a repeat, in seconds.
    package static let repeatSeconds: Int64 = 600

    private static let alertCountMax = 8

    /// An alert, by a number that is likely another one for other texts.
    package struct Alert: Sendable, Equatable {
        fileprivate let fingerprint: UInt64
        fileprivate var unixSeconds: Int64 = 0
    }

    /// The moment of the notification that is judged, or that is noted next, in UNIX seconds.
    package var nowUnixSeconds: Int64

    private var alerts: [Alert] = []

    /// Nothing was sent yet.
    package init(nowUnixSeconds: Int64) { self.nowUnixSeconds = nowUnixSeconds }

    /// Notes an accepted notification at `nowUnixSeconds`; one without an alert that people see changes nothing.
    ///
    /// - Parameters:
    ///   - payload: The payload; one that is no JSON object changes nothing.
    ///   - pushType: `apns-push-type`; nil for none.
    package mutating func note(_ payload: Span<UInt8>, pushType: PushType?) {
        guard let reading = try? PayloadReading(payload, visit: { _ in }), let alert = Alert(reading, in: payload)
        else {
            return
        }
        note(alert, pushType: pushType)
    }

    /// Notes the alert of an accepted notification at `nowUnixSeconds`, if its push type shows one.
    ///
    /// - Parameters:
    ///   - alert: As `PayloadLinter.judge` told it.
    ///   - pushType: `apns-push-type`; nil for none.
    package mutating func note(_ alert: Alert, pushType: PushType?) {
        guard PayloadCheck.tooManyAlerts.applies(to: pushType) else { return }
        var alert = alert
        alert.unixSeconds = nowUnixSeconds
        let now = nowUnixSeconds
        alerts.removeAll { $0.isOlder(than: Self.frequencySeconds, at: now) }
        if alerts.count == Self.alertCountMax { alerts.removeFirst() }
        alerts.append(alert)
    }

    /// How many alerts there were within the last hour.
    fileprivate var recentCount: Int { alerts.count { !$0.isOlder(than: Self.frequencySeconds, at: nowUnixSeconds) } }

    /// Whether there was the same alert just before.
    fileprivate func hasRepeat(of alert: Alert) -> Bool {
        alerts.contains {
            $0.fingerprint == alert.fingerprint && !$0.isOlder(than: Self.repeatSeconds, at: nowUnixSeconds)
        }
    }
}

extension PayloadHistory.Alert {
    /// The alert of a payload; nil when there is none.
    init?(_ reading: PayloadReading, in payload: Span<UInt8>) {
        let alert = reading[.alert]
        guard alert.kind == .text || alert.kind == .object else { return nil }
        // FNV-1a, over the texts as they were sent.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func take(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let texts: [PayloadField] =
            alert.kind == .text
            ? [.alert] : [.title, .subtitle, .body, .titleKey, .bodyKey, .titleArguments, .bodyArguments]
        for field in texts {
            for offset in reading[field].range { take(payload[offset]) }
            take(0)
        }
        self.init(fingerprint: hash)
    }

    fileprivate func isOlder(than seconds: Int64, at now: Int64) -> Bool {
        let (age, isOverflow) = now.subtractingReportingOverflow(unixSeconds)
        return isOverflow || age > seconds
    }
}

extension PayloadFindings {
    /// Judges an alert by those that came before it.
    mutating func judge(_ alert: PayloadHistory.Alert?, after history: PayloadHistory) {
        guard let alert else { return }
        if history.recentCount >= PayloadHistory.alertsPerHourCountMax { add(.tooManyAlerts, "aps.alert") }
        if history.hasRepeat(of: alert) { add(.repeatedAlert, "aps.alert") }
    }
}
