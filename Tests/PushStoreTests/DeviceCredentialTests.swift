// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import Testing
import TestSupport

@Suite(.bothEngines, .namesEngine) struct DeviceCredentialTests {
    static let id = DeviceID(rawValue: 0x05f8_af17_7cd3_edab)
    static let characters = "X7IMCwIb5uPtqe0dNfiTlV3Tpnb7yDWicsBQ2YBsQRY"
    private let store: any RequestTarget

    init() throws {
        store = try StoreEngine.open()
        try store.addApp()
    }

    static func credential(_ secret: String) -> DeviceCredential {
        let bytes = Array(secret.utf8)
        return DeviceCredential(secret: bytes.span, hash: hash(bytes))
    }

    /// Returns 32 bytes that stand for the SHA-256, which the store does not compute.
    private static func hash(_ bytes: [UInt8]) -> [UInt8] {
        (0..<4).flatMap { salt in
            var checksum = Checksum()
            checksum.add(UInt64(salt))
            checksum.add(bytes.span)
            return (0..<8).map { UInt8(truncatingIfNeeded: checksum.value >> (8 * $0)) }
        }
    }

    /// Enrols the device with a secret.
    private func enrol(_ id: DeviceID = Self.id, secret: String) throws { try store.enrol(id, secret: secret) }

    /// Returns the device that a credential identifies; nil if it is refused.
    private func device(_ credential: DeviceCredential) throws -> DeviceID? { try store.device(with: credential) }

    // MARK: The text

    @Test(arguments: [
        ("05f8af177cd3edab.\(characters)", id), ("05f8af177cd3edab.", id), ("05f8af177cd3edab..", id),
        ("7fffffffffffffff.\(characters)", DeviceID(rawValue: .max >> 1)),
        ("0000000000000000.\(characters)", DeviceID(rawValue: 0)),
        (characters, nil), ("", nil), (".", nil), (".\(characters)", nil), ("05f8af177cd3edab", nil),
        ("05f8af177cd3eda.\(characters)", nil), ("005f8af177cd3edab.\(characters)", nil),
        ("05F8AF177CD3EDAB.\(characters)", nil), ("05f8af177cd3edag.\(characters)", nil),
        ("8000000000000000.\(characters)", nil), ("05f8af177cd3edab-\(characters)", nil),
    ])
    func `only sixteen lowercase digits before a dot are a device ID`(secret: String, device: DeviceID?) {
        let credential = Self.credential(secret)
        #expect(credential.device == device)
        #expect(credential.secretHash == Self.hash(Array(secret.utf8)))
    }

    @Test func `a hash matches only itself`() {
        let hash = [UInt8](0..<32)
        let credential = DeviceCredential(device: nil, secretHash: hash)
        #expect(credential.hasHash(hash))
        for index in hash.indices {
            for bit in 0..<8 {
                var other = hash
                other[index] ^= 1 << bit
                #expect(!credential.hasHash(other), "bit \(bit) of byte \(index)")
            }
        }
        for other in [[], hash.dropLast(), hash + [0]] { #expect(!credential.hasHash(Array(other))) }
    }

    // MARK: The device

    @Test func `a device is found by the ID in its secret, and one without an ID by the hash`() throws {
        let other = DeviceID(rawValue: 7)
        try enrol(secret: "\(Self.id.text).\(Self.characters)")
        try enrol(other, secret: Self.characters)
        for _ in 0..<2 {
            #expect(try device(Self.credential("\(Self.id.text).\(Self.characters)")) == Self.id)
            #expect(try device(Self.credential(Self.characters)) == other)
            try store.reopen()
        }
    }

    @Test func `a secret with the ID of another device, with no device's ID or a malformed one is refused`() throws {
        let other = DeviceID(rawValue: 7)
        try enrol(secret: "\(Self.id.text).\(Self.characters)")
        try enrol(other, secret: "\(other.text).B\(Self.characters.dropFirst())")
        for prefix in [other.text, DeviceID(rawValue: 8).text, "05F8AF177CD3EDAB", "8000000000000000", "", "5"] {
            let credential = Self.credential("\(prefix).\(Self.characters)")
            #expect(try device(credential) == nil, "\(prefix)")
            #expect(try store.refusal(.device(.remove, by: credential)) == .unauthorized, "\(prefix)")
        }
        #expect(try store.counts().devices == 2)
    }

    @Test func `an ID does not replace the hash, and the hash of another device does not fit`() throws {
        let other = DeviceID(rawValue: 7)
        try enrol(secret: "\(Self.id.text).\(Self.characters)")
        try enrol(other, secret: Self.characters)
        let hashes = [Self.credential("\(Self.id.text).\(Self.characters)"), Self.credential(Self.characters)]
            .map(\.secretHash)
        for (id, hash) in [(Self.id, hashes[1]), (other, hashes[0]), (Self.id, []), (other, [UInt8](0..<32))] {
            #expect(try device(DeviceCredential(device: id, secretHash: hash)) == nil, "\(id) \(hash)")
        }
    }

    @Test(arguments: [
        DeviceRequest.identify, .register(topic: "com.example.App"), .unregister(topic: "com.example.App"),
        .subscribe(topic: "com.example.App", channel: ChannelID(high: 0, low: 0)),
        .unsubscribe(topic: "com.example.App", channel: ChannelID(high: 0, low: 0)),
        .subscriptions(topic: "com.example.App"), .setFilter(refusedTopics: []), .setPower(isSaving: true),
        .acknowledge([]), .policy, .confirmAuthorities(version: 1), .remove,
    ])
    func `a device request with an unknown secret is refused`(request: DeviceRequest) throws {
        let (live, removed) = (try store.enrol(1), try store.enrol(3))
        try store.succeed(.administer(removed.id, .remove))
        let credentials = [
            removed.credential, TestDevice(number: 9).credential, TestDevice(number: 10).credential,
            DeviceCredential(device: live.id, secretHash: removed.secretHash),
            DeviceCredential(device: removed.id, secretHash: live.secretHash),
        ]
        for credential in credentials {
            #expect(try store.refusal(.device(request, by: credential)) == .unauthorized, "\(credential)")
        }
        #expect(try store.counts().devices == 1)
    }

    @Test func `the row of a removed device, which has no hash, matches no credential`() throws {
        try enrol(secret: "\(Self.id.text).\(Self.characters)")
        try store.succeed(.administer(Self.id, .remove))
        #expect(try device(Self.credential("\(Self.id.text).\(Self.characters)")) == nil)
        #expect(try device(DeviceCredential(device: Self.id, secretHash: [])) == nil)
        #expect(try device(DeviceCredential(device: nil, secretHash: [])) == nil)
    }

    // MARK: Repeated enrolments and restores

    @Test func `the secret of a repeated enrolment has the ID of the device that was enrolled first`() throws {
        let (code, request) = ([UInt8](repeating: 7, count: 32), [UInt8](repeating: 9, count: 32))
        try store.succeed(.control(.addEnrolmentCode(hash: code, expiresAt: .distantFuture)))
        let secrets = (0..<3).map { number in
            { @Sendable (device: DeviceID) in "\(device.text).\(number)\(Self.characters.dropFirst())" }
        }
        for (number, secret) in secrets.enumerated() {
            let new = StoreRequest.NewDevice(
                codeHash: code, device: DeviceID(rawValue: UInt64(number) + 1),
                secretHash: { Self.credential(secret($0)).secretHash }, name: "desk", platform: "linux",
                requestHash: request)
            guard case .enrolled(DeviceID(rawValue: 1)) = try store.succeed(.enrol(new)) else {
                throw MissingReply(what: "device 1")
            }
        }
        let first = DeviceID(rawValue: 1)
        // The earlier secrets are invalid, and so is the secret of an ID that was not assigned.
        for secret in [secrets[0](first), secrets[1](first), secrets[2](DeviceID(rawValue: 3))] {
            #expect(try device(Self.credential(secret)) == nil, "\(secret)")
        }
        #expect(try device(Self.credential(secrets[2](first))) == first)
        #expect(try store.counts().devices == 1)
    }
}
