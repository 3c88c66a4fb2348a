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
    /// The rejection reason, as the server wrote it.
    package let reason: String?
    /// What to do about it.
    package let advice: String?
    /// With 410: since when the device token is no longer good, UNIX milliseconds.
    package let timestamp: Int64?

    /// Reads an answer of `/3/device/…`.
    package init(_ response: HTTPResponse) {
        status = response.status
        apnsID = response.fields.last { $0.0 == "apns-id" }?.1
        uniqueID = response.fields.last { $0.0 == "apns-unique-id" }?.1
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
        if let uniqueID { fields.append(("apns-unique-id", uniqueID)) }
        if let timestamp { fields.append(("Since", LocalTime.text(unixSeconds: timestamp / 1000))) }
        var report = Report(Table.fields(fields), json: self)
        report.exitCode = exitCode
        if let advice { report.complaint = ("the server refused: \(reason ?? "status \(status)")", advice) }
        return report
    }

    private enum CodingKeys: String, CodingKey {
        case status, reason, advice, timestamp
        case apnsID = "apns_id"
        case uniqueID = "apns_unique_id"
    }
}
