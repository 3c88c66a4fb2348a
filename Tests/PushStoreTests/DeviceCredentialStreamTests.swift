// SPDX-License-Identifier: Apache-2.0

import PushCore
@testable import PushStore
import TestSupport
import Testing

/// Checks credentials where streams and backups need them.
@Suite struct DeviceCredentialStreamTests {
    private let store: any StreamTarget

    init() throws { store = try StoreEngine.openStreams() }

    @Test(.bothEngines, .namesEngine)
    func `a stream is refused for a secret with the ID of another device or a malformed one`() throws {
        let (other, characters) = (DeviceID(rawValue: 7), DeviceCredentialTests.characters)
        try store.enrol(DeviceCredentialTests.id, secret: "\(DeviceCredentialTests.id.text).\(characters)")
        try store.enrol(other, secret: "\(other.text).B\(characters.dropFirst())")
        for prefix in [other.text, DeviceID(rawValue: 8).text, "05F8AF177CD3EDAB", "8000000000000000", "", "5"] {
            let stream = store.address()
            let credential = DeviceCredentialTests.credential("\(prefix).\(characters)")
            let replies = try store.run([.attach(credential, stream: stream)])
            guard case .performed(.failure(.unauthorized), stream)? = replies.first else {
                throw MissingReply(what: "a refusal of \(prefix), not \(replies)")
            }
        }
    }

    @Test(.bothEngines, .namesEngine)
    func `a device without an ID in its secret acknowledges broadcasts in requests, which frees its window`() throws {
        let station = try Station(store)
        let device = try station.another(2)
        let (stream, _) = try store.attach(device)
        for number in 0...UInt64(Limits.unacknowledgedCountMax) {
            let channel = try station.channel(number)
            try store.subscribe(device, to: channel)
            var broadcast = Broadcast.to(channel, "\(number)")
            broadcast.uniqueID = .unique(number)
            let delivered = try store.publish([broadcast]).1.delivered(to: stream)
            #expect(delivered.map(\.text) == ["\(number)"])
            _ = try store.acknowledge(device, delivered.map(\.sequence))
        }
    }

    @Test func `after a restore, secrets with and without an ID are valid, and those of later devices are not`() throws
    {
        let (id, other, late) = (DeviceCredentialTests.id, DeviceID(rawValue: 7), DeviceID(rawValue: 8))
        let characters = DeviceCredentialTests.characters
        let secrets = ["\(id.text).\(characters)", characters, "\(late.text).\(characters)"]
        let credentials = secrets.map(DeviceCredentialTests.credential)
        try store.enrol(id, secret: secrets[0])
        try store.enrol(other, secret: secrets[1])
        let files = try TemporaryDirectory()
        let ends = Told<StoreError?>()
        let copy = files.path(of: "copy.sqlite")
        try store.succeed(.backup(StoreBackup(path: copy) { ends.add($0) }))
        while ends.all.isEmpty { _ = try store.counts() }
        try store.enrol(late, secret: secrets[2])
        #expect(try store.device(with: credentials[2]) == late)
        try StoreRestore.prepare(path: copy)
        let restored = try TestStore(path: copy)
        #expect(try credentials.map { try restored.device(with: $0) } == [id, other, nil])
    }
}

extension RequestTarget {
    /// Enrols a device with a secret.
    func enrol(_ id: DeviceID, secret: String) throws {
        let hash = DeviceCredentialTests.credential(secret).secretHash
        let new = StoreRequest.NewDevice(
            codeHash: nil, device: id, secretHash: { _ in hash }, name: "desk", platform: "linux")
        try succeed(.enrol(new))
    }

    /// Returns the device that a credential identifies; nil if it is refused.
    func device(with credential: DeviceCredential) throws -> DeviceID? {
        switch try perform(.device(.identify, by: credential)) {
        case .success(.identified(let device)): return device
        case .failure(.unauthorized): return nil
        case let other: throw MissingReply(what: "a device, not \(other)")
        }
    }
}
