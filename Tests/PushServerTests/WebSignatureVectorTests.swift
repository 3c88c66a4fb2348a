// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushCore
import PushTLS
import TestSupport
import Testing

/// Checks JSON Web Signatures against the vectors of Wycheproof: as provider tokens, and with their ES256 keys.
@Suite(.enabled(if: TestVectors.has("wycheproof"), "\(TestVectors.absence(of: "wycheproof"))"))
struct WebSignatureVectorTests {
    private struct File: Decodable {
        let testGroups: [Group]
    }

    private struct Group: Decodable {
        let comment: String
        /// The verifying key; nil in the groups of symmetric keys.
        let `public`: JWK?
        let tests: [Vector]
    }

    private struct JWK: Decodable {
        let kty: String
        let crv: String?
        let x: String?
        let y: String?
    }

    private struct Vector: Decodable {
        let tcId: Int
        let comment: String
        let jws: String
        let result: String
    }

    private let groups: [Group]

    init() throws {
        groups = try TestVectors.decode("wycheproof/json_web_signature_test.json", as: File.self).testGroups
    }

    @Test func `no vector is a provider token`() throws {
        let vectors = groups.flatMap(\.tests)
        #expect(vectors.count == 401)
        for vector in vectors {
            let compact = Array(vector.jws.utf8)
            // This includes valid ones: their key IDs and claims are not a provider's, and most use other algorithms.
            #expect(ProviderToken(compact: compact.span) == nil, "\(vector.tcId): \(vector.comment)")
        }
    }

    /// The vectors that restrict how a key may be used.
    ///
    /// A provider's key has no such restriction, because it only verifies.
    private static let keyUses: Set<Int> = [354, 356]

    @Test func `with an ES256 key each valid signature is accepted, and each invalid one is refused`() throws {
        var counts: [String: Int] = [:]
        for group in groups {
            guard let jwk = group.public, jwk.kty == "EC", jwk.crv == "P-256" else { continue }
            let key = try VerifyingKey(der: try Self.publicKey(jwk))
            for vector in group.tests where !Self.keyUses.contains(vector.tcId) {
                let isAccepted = Self.verifies(vector.jws, key)
                #expect(isAccepted == (vector.result == "valid"), "\(vector.tcId): \(vector.comment)")
                counts[vector.result, default: 0] += 1
            }
        }
        #expect(counts == ["valid": 2, "invalid": 37], "\(counts)")
    }

    /// Decodes the parts as `ProviderToken` does, without its requirements beyond RFC 7515.
    private static func verifies(_ jws: String, _ key: VerifyingKey) -> Bool {
        let parts = jws.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Array.init)
        let decoded = parts.compactMap { part in Base64.decode(part.span) }
        guard decoded.count == 3 else { return false }
        let (header, signature) = (decoded[0], decoded[2])
        guard let object = try? JSONValue(parsing: header.span), object["alg"]?.string == "ES256" else { return false }
        let signed = parts[0] + [UInt8(ascii: ".")] + parts[1]
        return key.verifies(signature.span, over: signed.span, digest: .sha256)
    }

    /// Returns the DER SubjectPublicKeyInfo of a P-256 key.
    private static func publicKey(_ jwk: JWK) throws -> [UInt8] {
        let coordinates = [jwk.x, jwk.y].flatMap { text -> [UInt8] in
            let characters = Array((text ?? "").utf8)
            return Base64.decode(characters.span) ?? []
        }
        try #require(coordinates.count == 64)
        let identifiers: [UInt8] = [
            0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
            0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
        ]
        return identifiers + coordinates
    }
}
