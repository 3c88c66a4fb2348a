// SPDX-License-Identifier: Apache-2.0

@testable import PushAPI
@testable import PushCore

extension FuzzChecks {
    /// Checks that each request to send that is accepted becomes a payload that a device reads.
    ///
    /// - Parameter input: The bytes, of which the first one selects the form of the request.
    /// - Returns: The violation, or nil.
    @Sendable static func sendRequest(_ input: [UInt8]) -> String? {
        let body = Array(input.dropFirst())
        let message: SendMessage?
        switch (input.first ?? 0) % 7 {
        case 0: message = try? SendMessage(json: body)
        case 1: message = try? SendMessage(text: "text", FormFields(urlEncoded: body[...]) ?? FormFields())
        case 2: message = try? SendMessage(ntfy: [], FormFields(urlEncoded: body[...]) ?? FormFields())
        case 3: message = try? SendMessage.ntfy(json: body).message
        case 4:
            message = (try? MultipartForm.fields(of: body, boundary: "X")).flatMap {
                try? SendMessage.gotify($0).message
            }
        case 5: message = try? SendMessage(alertmanager: body)
        default: message = try? SendMessage(grafana: body)
        }
        guard var message else { return nil }
        if message.wholePayload == nil, (try? Payload(parsing: message.payload.span)) == nil {
            return "The payload is not readable."
        }
        if message.collapseID?.utf8.count ?? 1 > Limits.collapseIDByteCountMax { return "The collapse ID is too long." }
        if message.shorten(toPayload: 300), message.payload.count > 300 { return "The shortened payload does not fit." }
        return nil
    }
}
