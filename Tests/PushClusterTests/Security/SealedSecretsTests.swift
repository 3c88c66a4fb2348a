// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import PushCluster

struct SealedSecretsTests {
    private let files: TemporaryDirectory
    private let secrets: SealedSecrets

    init() throws {
        files = try TemporaryDirectory()
        secrets = try SealedSecrets(ClusterKey.make(file: files.path(of: "cluster.key")))
    }

    @Test(arguments: [[], [1], [UInt8](repeating: 5, count: 5_000)])
    func `a secret is opened under its name`(secret: [UInt8]) throws {
        let sealed = try secrets.seal(secret, name: "token keys")
        #expect(secrets.open(sealed, name: "token keys") == secret)
        #expect(secrets.open(sealed, name: "token key") == nil)
        #expect(secrets.open(sealed, name: "") == nil)
    }

    @Test func `another key opens nothing`() throws {
        let others = try SealedSecrets(ClusterKey.make(file: files.path(of: "other.key")))
        #expect(others.open(try secrets.seal([1, 2, 3], name: "a"), name: "a") == nil)
    }

    @Test func `a secret that was changed, cut or extended is not opened`() throws {
        let sealed = try secrets.seal([1, 2, 3], name: "a")
        for place in sealed.indices {
            for bit in 0..<8 {
                var changed = sealed
                changed[place] ^= 1 << UInt8(bit)
                #expect(secrets.open(changed, name: "a") == nil, "bit \(bit) of byte \(place)")
            }
            #expect(secrets.open(Array(sealed[..<place]), name: "a") == nil)
        }
        #expect(secrets.open(sealed + [0], name: "a") == nil)
        #expect(secrets.open([], name: "a") == nil)
    }
}
