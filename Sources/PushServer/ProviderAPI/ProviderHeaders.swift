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
        for field in table.fields {
            switch field.name.count {
            case 7 where table.name(of: field, equals: "apns-id"): set(\.id, field, table)
            case 10 where table.name(of: field, equals: "apns-topic"): set(\.topic, field, table)
            case 13 where table.name(of: field, equals: "authorization"): set(\.authorization, field, table)
            case 13 where table.name(of: field, equals: "apns-priority"): set(\.priority, field, table)
            case 14 where table.name(of: field, equals: "apns-push-type"): set(\.pushType, field, table)
            case 15 where table.name(of: field, equals: "apns-expiration"): set(\.expiration, field, table)
            case 15 where table.name(of: field, equals: "apns-channel-id"): set(\.channelID, field, table)
            case 15 where table.name(of: field, equals: "apns-request-id"): set(\.requestID, field, table)
            case 16 where table.name(of: field, equals: "apns-collapse-id"): set(\.collapseID, field, table)
            default: break
            }
        }
    }

    private mutating func set(
        _ header: WritableKeyPath<ProviderHeaders, Range<Int>?>, _ field: FieldTable.Field,
        _ table: borrowing FieldTable
    ) {
        if self[keyPath: header] != nil { duplicate = table.text(field.name) }
        self[keyPath: header] = field.value
    }
}
