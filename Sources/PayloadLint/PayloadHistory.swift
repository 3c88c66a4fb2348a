// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// The recent alerts of one app on one device, with their times and fingerprints, for the checks.
///
/// It holds at most eight alerts and discards the oldest first.
package struct PayloadHistory: Sendable, Equatable {
    /// The maximum number of alerts within an hour; the first one above it gives a finding.
    static let alertsPerHourCountMax = 4
    /// The time for which an alert counts toward `alertsPerHourCountMax`, in seconds.
    static let frequencySeconds: Int64 = 3600
    /// The time within which an alert with the same texts is a repeat, in seconds.
    static let repeatSeconds: Int64 = 600

    private static let alertCountMax = 8

    /// An alert, represented by a hash of its texts.
    package struct Alert: Sendable, Equatable {
        fileprivate let fingerprint: UInt64
        fileprivate var acceptedAt = Timestamp.unixEpoch
    }

    /// The time of the notification that is checked or noted next.
    package var now: Timestamp

    private var alerts: [Alert] = []

    /// Creates an empty history.
    package init(now: Timestamp) { self.now = now }

    /// Records an accepted notification at `now`; one without a visible alert changes nothing.
    ///
    /// - Parameters:
    ///   - payload: The payload; if it is not a JSON object, nothing changes.
    ///   - pushType: The `apns-push-type`; nil for none.
    package mutating func note(_ payload: Span<UInt8>, pushType: PushType?) {
        guard let reading = try? PayloadReading(payload, visit: { _ in }), let alert = Alert(reading, in: payload)
        else {
            return
        }
        note(alert, pushType: pushType)
    }

    /// Records the alert of an accepted notification at `now`, if its push type shows alerts.
    ///
    /// - Parameters:
    ///   - alert: The alert that `PayloadLinter.lint` returned.
    ///   - pushType: The `apns-push-type`; nil for none.
    package mutating func note(_ alert: Alert, pushType: PushType?) {
        guard PayloadCheck.tooManyAlerts.applies(to: pushType) else { return }
        var alert = alert
        alert.acceptedAt = now
        let now = now
        alerts.removeAll { $0.isOlder(than: Self.frequencySeconds, at: now) }
        if alerts.count == Self.alertCountMax { alerts.removeFirst() }
        alerts.append(alert)
    }

    /// The number of alerts within the last hour.
    fileprivate var recentCount: Int { alerts.count { !$0.isOlder(than: Self.frequencySeconds, at: now) } }

    /// Returns whether the same alert occurred within `repeatSeconds`.
    fileprivate func hasRepeat(of alert: Alert) -> Bool {
        alerts.contains {
            $0.fingerprint == alert.fingerprint && !$0.isOlder(than: Self.repeatSeconds, at: now)
        }
    }
}

extension PayloadHistory.Alert {
    /// Reads the alert of a payload; returns nil if the payload has no alert.
    init?(_ reading: PayloadReading, in payload: Span<UInt8>) {
        let alert = reading[.alert]
        guard alert.kind == .text || alert.kind == .object else { return nil }
        // The hash is FNV-1a over the texts as they were sent.
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

    fileprivate func isOlder(than seconds: Int64, at now: Timestamp) -> Bool {
        now.seconds(since: acceptedAt) > seconds
    }
}

extension PayloadFindings {
    /// Checks an alert against the ones before it.
    mutating func checkRepetition(of alert: PayloadHistory.Alert?, after history: PayloadHistory) {
        guard let alert else { return }
        // Reports only the first alert above the maximum, not each later one of that hour.
        if history.recentCount == PayloadHistory.alertsPerHourCountMax { add(.tooManyAlerts, "aps.alert") }
        if history.hasRepeat(of: alert) { add(.repeatedAlert, "aps.alert") }
    }
}
