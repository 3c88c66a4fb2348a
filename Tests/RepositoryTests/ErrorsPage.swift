// SPDX-License-Identifier: Apache-2.0

@testable import PushCore

/// Generates docs/reference/errors.md from `RejectionReason.allCases`.
enum ErrorsPage {
    static func render() -> String {
        """
        # Rejection reasons

        <!-- Made from RejectionReason by `make pages`. -->

        When the server refuses a request, the provider receives an HTTP status, a JSON object with the reason, and the
        header field `posthorn-detail`, which describes the cause in this request:

        ```
        HTTP/2 400
        apns-id: 6F0C1B5E-0E0A-4C8E-9C39-2F6E0E1C5F11
        content-type: application/json
        posthorn-detail: The device token in the path has 63 digits instead of 64: check that it was copied completely.

        {"reason":"BadDeviceToken"}
        ```

        With status 410, the object also has `timestamp`: the time at which the device token became invalid, in UNIX
        milliseconds. All reasons are Apple's; the server sends no others. `posthorn send` prints the reason and the
        detail.

        The column "Send again?" says whether to send the same notification again: *never*; *once fixed*, after you
        correct the request; or *later*, if the request is valid. The server reports the first error that it finds: see
        the [order of checks](provider-api.md#order-of-checks).

        | Status | Reason | What to do | Send again? |
        |---|---|---|---|
        \(rows)

        ## Details

        \(sections)

        """
    }

    private static var sorted: [RejectionReason] {
        RejectionReason.allCases.sorted { ($0.status, $0.rawValue) < ($1.status, $1.rawValue) }
    }

    private static var rows: String {
        sorted.map { reason in
            "| \(reason.status) | [`\(reason.rawValue)`](#\(reason.rawValue.lowercased())) | \(reason.advice) "
                + "| \(reason.retry.rawValue) |"
        }
        .joined(separator: "\n")
    }

    private static var sections: String {
        sorted.map { reason in
            var text = "### \(reason.rawValue)\n\n\(reason.status). \(reason.meaning)"
            if let causes = reason.causes { text += "\n\nUsual causes: \(causes)" }
            return text + "\n\nDo: \(reason.advice)"
        }
        .joined(separator: "\n\n")
    }
}
