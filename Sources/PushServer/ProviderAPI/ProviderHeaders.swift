// SPDX-License-Identifier: Apache-2.0

internal import PushHTTP

/// Where the provider API's headers stand in a request; found in one pass without a string.
struct ProviderHeaders {
    /// Ranges in the table's bytes; nil when the header is absent.
    var authorization: Range<Int>?
    var id: Range<Int>?
    var topic: Range<Int>?
    var pushType: Range<Int>?
    var priority: Range<Int>?
    var expiration: Range<Int>?
    var collapseID: Range<Int>?
    /// Of broadcasts and channels.
    var channelID: Range<Int>?
    /// Of broadcasts and channels.
    var requestID: Range<Int>?
    /// The name of one that came twice.
    var duplicate: String?

    /// - SeeAlso: spec of Apple's request headers, docs/reference/provider-api.md.
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
