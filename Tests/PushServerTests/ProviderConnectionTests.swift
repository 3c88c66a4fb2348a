// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushNet
import PushStore
import PushTLS
import Testing

@testable import PushServer

/// Checks provider tokens on a connection that stays open while the clock moves.
@Suite struct ProviderConnectionTests {
    private static let keyID = "KEY0000001"
    private static let teamID = "TEAM000001"
    private static let start: Int64 = 1_800_000_000

    private let key: PrivateKey
    private let directory: TopicDirectory
    private let connection: ProviderConnection

    init() throws {
        let key = try PrivateKey()
        let record = SigningKey(
            id: Self.keyID, teamID: Self.teamID, topics: nil, publicKey: key.publicKeyDER,
            createdAt: Timestamp(unixSeconds: Self.start))
        self.key = key
        directory = TopicDirectory(Directory(version: 1, topics: [:], keys: [Self.keyID: record]))
        connection = ProviderConnection(environment: .production, certificate: nil)
    }

    /// Returns the value of `authorization` with a token issued at this time.
    private func authorization(issuedAt: Int64) throws -> [UInt8] {
        let parts = [#"{"alg":"ES256","kid":"\#(Self.keyID)"}"#, #"{"iss":"\#(Self.teamID)","iat":\#(issuedAt)}"#]
        let text = parts.map { String(decoding: Base64.encodeURL(Array($0.utf8).span), as: UTF8.self) }
        let signed = Array(text.joined(separator: ".").utf8)
        let signature = try key.sign(signed.span)
        return Array("bearer ".utf8) + signed + Array(".".utf8) + Base64.encodeURL(signature.span)
    }

    /// Sends a request on the connection, and returns the ID of the authenticated key.
    private func send(_ value: [UInt8], at seconds: Int64) throws -> String {
        let context = ProviderConnection.AuthenticationContext(
            directory: directory, now: Timestamp(unixSeconds: seconds),
            monotonic: .past.advanced(bySeconds: seconds - Self.start), updateCountMax: 100)
        let sender = try connection.authenticate(0..<value.count, in: value.span, context)
        return sender.id
    }

    /// Sends a request on the connection, and returns the rejection reason, or nil if the key is authenticated.
    private func reason(_ value: [UInt8], at seconds: Int64) -> RejectionReason? {
        let result = Result { try send(value, at: seconds) }
        guard case .failure(let error) = result else { return nil }
        return (error as? Rejection)?.reason
    }

    @Test func `an accepted provider token expires on the open connection after an hour`() throws {
        let value = try authorization(issuedAt: Self.start)
        for age: Int64 in [0, 1, 1800, 3600] {
            #expect(reason(value, at: Self.start + age) == nil, "\(age) seconds old")
        }
        for age: Int64 in [3601, 7200, 86_400] {
            #expect(reason(value, at: Self.start + age) == .expiredProviderToken, "\(age) seconds old")
        }
        let next = try authorization(issuedAt: Self.start + 3601)
        #expect(reason(next, at: Self.start + 3601) == nil, "a new one is taken")
        #expect(reason(value, at: Self.start + 3601) == .expiredProviderToken, "the old one is still expired")
    }

    @Test func `an accepted provider token is refused when the clock is set back by more than an hour`() throws {
        let value = try authorization(issuedAt: Self.start)
        #expect(reason(value, at: Self.start) == nil)
        #expect(reason(value, at: Self.start - 3600) == nil)
        #expect(reason(value, at: Self.start - 3601) == .expiredProviderToken)
    }

    @Test func `an expired provider token is refused on the first request too`() throws {
        #expect(reason(try authorization(issuedAt: Self.start - 3601), at: Self.start) == .expiredProviderToken)
        #expect(reason(try authorization(issuedAt: Self.start - 3600), at: Self.start) == nil)
    }
}
