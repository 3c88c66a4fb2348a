// SPDX-License-Identifier: Apache-2.0

internal import PushCore
package import PushCurl

/// What the server answered to a notification.
package struct SendResult: Encodable, Sendable {
    /// The HTTP status; 200 means accepted.
    package let status: Int
    /// `apns-id`.
    package let apnsID: String?
    /// `apns-unique-id`.
    package let uniqueID: String?
    /// `apns-request-id`, of a broadcast.
    package let requestID: String?
    /// The rejection reason, as the server wrote it.
    package let reason: String?
    /// What to do about it.
    package let advice: String?
    /// `posthorn-detail`: what is wrong in this case, and what to do.
    package let detail: String?
    /// `posthorn-warning`, each: what the checks found in a payload that was accepted; nil for nothing.
    package let warnings: [String]?
    /// With 410: since when the device token is no longer good, UNIX milliseconds.
    package let timestamp: Int64?

    /// Reads an answer of `/3/device/…` or `/4/broadcasts/apps/…`.
    package init(_ response: HTTPResponse) {
        func values(_ name: String) -> [String] { response.fields.filter { $0.0 == name }.map(\.1) }
        status = response.status
        apnsID = values("apns-id").last
        uniqueID = values("apns-unique-id").last
        requestID = values("apns-request-id").last
        detail = values("posthorn-detail").last
        let warnings = values("posthorn-warning")
        self.warnings = warnings.isEmpty ? nil : warnings
        let body = try? JSONValue(parsing: response.body.span)
        reason = body?["reason"]?.string
        timestamp = body?["timestamp"]?.integer
        advice = response.status == 200 ? nil : Self.advice(reason: reason)
    }

    private static func advice(reason: String?) -> String {
        guard let known = reason.flatMap(RejectionReason.init(rawValue:)) else {
            return "This is no reason that APNs documents; the server's log may say more."
        }
        return known.advice
    }

    /// What `send` ends with: by the kind of reason, where there is one.
    package var exitCode: ExitCode {
        switch status {
        case 200: return .ok
        case 403: return .notPermitted
        case 410: return .notFound
        default:
            let retry = reason.flatMap(RejectionReason.init(rawValue:))?.retry
            return retry == .later || (retry == nil && status >= 500) ? .tryLater : .refused
        }
    }

    /// What `send` prints.
    package var report: Report {
        var fields = [(name: "Status", value: "\(status)\(status == 200 ? " accepted" : "")")]
        if let apnsID { fields.append(("apns-id", apnsID)) }
        if let requestID { fields.append(("apns-request-id", requestID)) }
        if let uniqueID { fields.append(("apns-unique-id", uniqueID)) }
        fields += (warnings ?? []).map { ("Warning", $0) }
        if let timestamp { fields.append(("Since", LocalTime.text(unixSeconds: timestamp / 1000))) }
        var report = Report(Table.fields(fields), json: self)
        report.exitCode = exitCode
        if let advice { report.complaint = ("the server refused: \(reason ?? "status \(status)")", detail ?? advice) }
        return report
    }

    private enum CodingKeys: String, CodingKey {
        case status, reason, advice, detail, warnings, timestamp
        case apnsID = "apns_id"
        case uniqueID = "apns_unique_id"
        case requestID = "apns_request_id"
    }
}
