// SPDX-License-Identifier: Apache-2.0

internal import PushCore
@testable import PushServer
internal import TestSupport
internal import Testing

/// Compares docs/reference/provider-api.md with the code's catalogues.
struct ProviderAPIPageTests {
    private static let path = "docs/reference/provider-api.md"
    private static let text = readText("\(RepositoryPaths.root)/\(path)")
    private static let tables = MarkdownDocument(text).tables

    @Test func `the table of refusals lists each rejection reason once, with its status, in order`() throws {
        let rows = try rows(below: ["Status", "Reason", "When"]).map { ($0[0], $0[1]) }
        let reasons = RejectionReason.allCases.sorted { ($0.status, $0.rawValue) < ($1.status, $1.rawValue) }
        #expect(rows.map(\.0) == reasons.map { "\($0.status)" })
        #expect(rows.map(\.1) == reasons.map { "`\($0.rawValue)`" })
    }

    @Test func `the table of push types lists each type once, with its suffix and limit`() throws {
        let rows = try rows(below: ["Type", "Suffix of the topic", "Bytes of payload", "With a certificate"])
        #expect(rows.map { $0[0] } == PushType.allCases.map { "`\($0.rawValue)`" })
        for (row, type) in zip(rows, PushType.allCases) {
            #expect(row[1] == (type.topicSuffix.isEmpty ? "" : "`\(type.topicSuffix)`"), "\(type)")
            #expect(row[2].hasPrefix("\(type.payloadByteCountMax)"), "\(type)")
        }
    }

    @Test func `the order of checks names only catalogue reasons, and every reason of sending`() throws {
        let order = Self.text.split(separator: "### Order of checks\n")[1].split(separator: "\n## ")[0]
        let named = Set(order.matches(of: /`([A-Z]\w+)`/).map { String($0.1) })
        let catalogue = Set(RejectionReason.allCases.map(\.rawValue))
        #expect(named.subtracting(catalogue) == [])
        let ofOneFieldOrElsewhere: Set<RejectionReason> = [
            .badExpirationDate, .badPriority, .invalidPushType, .badCollapseID, .idleTimeout, .shutdown,
            .internalServerError, .featureNotEnabled, .missingChannelID, .badChannelID,
            .channelNotRegistered, .badRequestParams, .badRequestPayload, .missingPushType,
            .cannotCreateChannelConfig, .topicMismatch,
        ]
        #expect(catalogue.subtracting(named) == Set(ofOneFieldOrElsewhere.map(\.rawValue)))
    }

    @Test func `every setting that the page names exists, with the default on the page`() throws {
        let rows = try rows(below: ["Setting", "What it changes here", "Default"])
        #expect(rows.count > 6)
        for row in rows {
            let names = row[0].matches(of: /`(\w+)`/).map { String($0.1) }
            let keys = try names.map { try #require(ConfigurationKey(rawValue: $0), "\($0)") }
            let defaults = keys.map(\.defaultText).joined(separator: ", ")
            #expect(
                row[2].filter { $0 != "`" }
                    == (Set(keys.map(\.defaultText)).count == 1 ? keys[0].defaultText : defaults))
        }
    }

    @Test(arguments: [
        ("`apns-collapse-id` is longer than", Limits.collapseIDByteCountMax),
        ("the app has", Limits.channelPerAppCountMax), ("a broadcast", Limits.broadcastPayloadByteCountMax),
        ("compact form, of at most", Limits.providerTokenByteCountMax),
        ("its last", Limits.rememberedProviderTokenCountMax),
        ("**Streams.** A connection can have up to", Limits.concurrentStreamCountMax),
        ("64 fields and", Limits.headerListByteCountMax),
        ("base64, or longer than", Limits.channelIDByteCountMax),
        ("at most", Int(Limits.broadcastStorageSecondsMax / 3600)),
    ])
    func `each number on the page is a limit of the code`(words: String, limit: Int) {
        let escaped = "\(words) \(limit)"
        #expect(Self.text.contains(escaped), "\(escaped)")
    }

    private func rows(below head: [String]) throws -> [[String]] {
        let table = try #require(Self.tables.first { $0.first == head }, "\(Self.path): \(head)")
        return Array(table.dropFirst(2))
    }
}
