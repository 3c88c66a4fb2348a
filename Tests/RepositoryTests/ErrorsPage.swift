// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Generates docs/reference/errors.md from `RejectionReason.allCases`.
enum ErrorsPage {
    static func render() -> String {
        """
        # Rejection reasons

        <!-- Made from RejectionReason by `make pages`. -->

        What a provider hears when the server refuses a request: the HTTP status, a body of one JSON object,
        `{"reason":"BadDeviceToken"}`, and the field `posthorn-detail`, a sentence about this very request:

        ```
        HTTP/2 400
        apns-id: 6F0C1B5E-0E0A-4C8E-9C39-2F6E0E1C5F11
        content-type: application/json
        posthorn-detail: The device token in the path has 63 digits, and a token of this server 64: see that it was copied whole.

        {"reason":"BadDeviceToken"}
        ```

        With status 410 the object also has `timestamp`, the moment since which the device token is no longer good, in
        UNIX milliseconds. The words are Apple's; there are no others. `posthorn send` prints the detail behind a reason.

        "Send again?" is about the same notification: *never*; *once fixed*, when the request is corrected; *later*, when
        nothing is wrong with it. The first thing wrong is the answer: see the
        [order of checks](provider-api.md#order-of-checks).

        | Status | Reason | What to do | Send again? |
        |---|---|---|---|
        \(rows)

        ## Each of them

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
