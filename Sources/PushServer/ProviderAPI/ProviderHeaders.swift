// SPDX-License-Identifier: Apache-2.0

internal import PushHTTP

/// The positions of the provider API's headers in a request, found in one pass without creating strings.
struct ProviderHeaders {
    /// The ranges of the values in the table's bytes; nil if the header is absent.
    var authorization: Range<Int>?
    var id: Range<Int>?
    var topic: Range<Int>?
    var pushType: Range<Int>?
    var priority: Range<Int>?
    var expiration: Range<Int>?
    var collapseID: Range<Int>?
    /// The channel of a broadcast or of channel management.
    var channelID: Range<Int>?
    /// The request ID of a broadcast or of channel management.
    var requestID: Range<Int>?
    /// The provider's wish that this payload is linted.
    var lint: Range<Int>?
    /// The name of a header that is repeated, if any.
    var duplicate: String?

    /// Finds the headers in a field table.
    ///
    /// - SeeAlso: Apple's request headers in docs/reference/provider-api.md.
    init(_ table: borrowing FieldTable) {
        let (bytes, fields) = (table.bytes, table.fields)
        for index in fields.indices {
            let field = fields[index]
            let name = bytes.span.extracting(field.name)
            switch name.count {
            case 7 where Bytes.areEqual(name, "apns-id"): Self.set(&id, &duplicate, field, bytes)
            case 10 where Bytes.areEqual(name, "apns-topic"): Self.set(&topic, &duplicate, field, bytes)
            case 13 where Bytes.areEqual(name, "authorization"): Self.set(&authorization, &duplicate, field, bytes)
            case 13 where Bytes.areEqual(name, "apns-priority"): Self.set(&priority, &duplicate, field, bytes)
            case 13 where Bytes.areEqual(name, "posthorn-lint"): Self.set(&lint, &duplicate, field, bytes)
            case 14 where Bytes.areEqual(name, "apns-push-type"): Self.set(&pushType, &duplicate, field, bytes)
            case 15 where Bytes.areEqual(name, "apns-expiration"): Self.set(&expiration, &duplicate, field, bytes)
            case 15 where Bytes.areEqual(name, "apns-channel-id"): Self.set(&channelID, &duplicate, field, bytes)
            case 15 where Bytes.areEqual(name, "apns-request-id"): Self.set(&requestID, &duplicate, field, bytes)
            case 16 where Bytes.areEqual(name, "apns-collapse-id"): Self.set(&collapseID, &duplicate, field, bytes)
            default: break
            }
        }
    }

    private static func set(
        _ header: inout Range<Int>?, _ duplicate: inout String?, _ field: FieldTable.Field, _ bytes: [UInt8]
    ) {
        if header != nil { duplicate = String(decoding: bytes[field.name], as: UTF8.self) }
        header = field.value
    }
}
