// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushCurl

/// The server's answer to a notification.
struct SendResult: Encodable, Sendable {
    /// The HTTP status; 200 means accepted.
    let status: Int
    let apnsID: String?
    let uniqueID: String?
    /// The header `apns-request-id`, which only the answer to a broadcast has.
    let requestID: String?
    /// The rejection reason, as the server wrote it.
    let reason: String?
    /// The remedy for the rejection reason.
    let advice: String?
    /// The header `posthorn-detail`: the problem and its remedy in this particular case.
    let detail: String?
    /// The headers `posthorn-warning`: findings in an accepted payload; nil if there are none.
    let warnings: [String]?
    /// The time since which the device token is invalid, in UNIX milliseconds; only with status 410.
    let timestamp: Int64?

    /// Reads an answer of `/3/device/…` or `/4/broadcasts/apps/…`.
    init(_ response: HTTPResponse) {
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
            return "APNs does not document this reason; see the server's log."
        }
        return known.advice
    }

    /// The exit code of `send`; for most statuses, the rejection reason decides whether a retry can succeed.
    var exitCode: ExitCode {
        switch status {
        case 200: return .ok
        case 403: return .notPermitted
        case 410: return .notFound
        default:
            let retry = reason.flatMap(RejectionReason.init(rawValue:))?.retry
            return retry == .later || (retry == nil && status >= 500) ? .tryLater : .refused
        }
    }

    /// The output of `send`.
    var report: Report {
        var fields = [(name: "Status", value: "\(status)\(status == 200 ? " accepted" : "")")]
        if let apnsID { fields.append(("apns-id", apnsID)) }
        if let requestID { fields.append(("apns-request-id", requestID)) }
        if let uniqueID { fields.append(("apns-unique-id", uniqueID)) }
        fields += (warnings ?? []).map { ("Warning", $0) }
        if let timestamp { fields.append(("Since", LocalTime.text(Timestamp(unixMilliseconds: timestamp)))) }
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
