// SPDX-License-Identifier: Apache-2.0

@testable import PushTLS
import TestSupport
import Testing

/// Checks ECDSA over P-256 with SHA-256 and raw R‖S against the vectors of Wycheproof.
@Suite(.enabled(if: TestVectors.has("wycheproof"), "\(TestVectors.absence(of: "wycheproof"))"))
struct SignatureVectorTests {
    private struct File: Decodable {
        let numberOfTests: Int
        let testGroups: [Group]
    }

    private struct Group: Decodable {
        let publicKeyDer: String
        let tests: [Vector]
    }

    private struct Vector: Decodable {
        let tcId: Int
        let comment: String
        let msg: String
        let sig: String
        let result: String
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.utf8.map { UInt8($0 > 57 ? $0 - 87 : $0 - 48) }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    @Test func `each valid signature is accepted, and each invalid one is refused`() throws {
        let file = try TestVectors.decode("wycheproof/ecdsa_secp256r1_sha256_p1363_test.json", as: File.self)
        var counts: [String: Int] = [:]
        for group in file.testGroups {
            let key = try VerifyingKey(der: Self.bytes(group.publicKeyDer))
            for vector in group.tests {
                let (message, signature) = (Self.bytes(vector.msg), Self.bytes(vector.sig))
                let isAccepted = key.verifies(signature.span, over: message.span, digest: .sha256)
                #expect(isAccepted == (vector.result == "valid"), "\(vector.tcId): \(vector.comment)")
                counts[vector.result, default: 0] += 1
            }
        }
        // No vector is `acceptable`, which would permit either result.
        #expect(counts == ["valid": 173, "invalid": 89] && file.numberOfTests == 262, "\(counts)")
    }
}
