// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Makes docs/reference/errors.md from `RejectionReason.allCases`.
enum ErrorsPage {
    static func render() -> String {
        """
        # Rejection reasons

        <!-- Made from RejectionReason by `make pages`. -->

        What a provider hears when the server refuses a notification: the HTTP status, and a body of one JSON object,
        `{"reason":"BadDeviceToken"}`. With status 410 the object also has `timestamp`, the moment since which the device
        token is no longer registered, in UNIX milliseconds. The words are Apple's; there are no others.
        The catalogue is whole: what is [not there yet](limits.md#not-there-yet) does not give its reasons yet.

        "Send again?" is about the same notification: *never*; *once fixed*, when the request is corrected; *later*, when
        nothing is wrong with it.

        | Status | Reason | What to do | Send again? |
        |---|---|---|---|
        \(rows)

        The order in which the server checks: method, path, repeated fields, provider token, `apns-id`, `apns-expiration`,
        `apns-priority`, `apns-push-type`, `apns-collapse-id`, `apns-topic`, payload, device token. The first thing wrong
        is the answer.

        `posthorn send` prints the same advice behind a reason.

        """
    }

    private static var rows: String {
        RejectionReason.allCases
            .sorted { ($0.status, $0.rawValue) < ($1.status, $1.rawValue) }
            .map { "| \($0.status) | `\($0.rawValue)` | \($0.advice) | \($0.retry.rawValue) |" }
            .joined(separator: "\n")
    }
}
