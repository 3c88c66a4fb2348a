// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// Logs when the server's certificate expires soon, once for each number of days.
final class CertificateValidity {
    /// The numbers of days before the expiry at which a line is logged.
    static let dayCounts: [Int64] = [30, 14, 7, 1]

    private let log: EventLog
    /// The certificate of the last line, and its number of days.
    private var last: (end: Timestamp, days: Int64)?

    init(_ log: EventLog) { self.log = log }

    /// Logs a line if the certificate that the server presents expires within the next number of days.
    func check(_ installation: Installation) {
        guard let end = installation.certificateExpiry else { return }
        let path = installation.certificateFile
        let seconds = end.seconds(since: .now)
        guard let days = Self.due(seconds: seconds) else { return }
        // Two calculations of the same end may differ by a second.
        if let last, abs(last.end.seconds(since: end)) <= 1, last.days <= days { return }
        last = (end, days)
        let fields: KeyValuePairs<String, String> = [
            "file": path, "expires": EventLog.timeText(unixSeconds: end.unixSeconds), "days": "\(seconds / 86_400)",
            "remedy": "renew the certificate, then run systemctl reload posthornd",
        ]
        if seconds <= 0 { log.error("certificate_expired", fields) } else { log.warning("certificate_expires", fields) }
    }

    /// Returns the number of days of `dayCounts` that has been reached; 0 after the expiry, nil if none is reached.
    static func due(seconds: Int64) -> Int64? {
        seconds <= 0 ? 0 : dayCounts.last { seconds <= $0 * 86_400 }
    }
}
