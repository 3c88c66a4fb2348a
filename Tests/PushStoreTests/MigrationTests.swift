// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushAPI
import PushCore
import PushSQLite
import PushStore
import TestSupport
import Testing

@Suite struct MigrationTests {
    private let directory: TemporaryDirectory
    private let path: String
    private let device = TestDevice(number: 1)

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path(of: "posthorn.sqlite")
        let connection = try Connection(path: path, durability: .full, exclusive: true)
        try connection.execute(EarlierSchema.steps[0])
        try connection.execute(EarlierSchema.rows)
    }

    @Test func `a file of version 1 keeps its data and gets the defaults of new settings`() throws {
        let store = try TestStore(in: directory)
        guard case .apps(let apps) = try store.succeed(.apps), case .keys(let keys) = try store.succeed(.keys),
            case .certificates(let certificates) = try store.succeed(.certificates)
        else { throw MissingReply(what: "apps, keys and certificates") }
        #expect(apps.map(\.topic) == ["com.example.App"])
        #expect(apps.map(\.name) == ["App"] && apps.map(\.teamID) == ["TEAM000000"])
        #expect(apps.map(\.checks) == [.warn] && apps.map(\.broadcasts) == [false])
        #expect(apps.map(\.registrationCount) == [1] && apps.map(\.pendingCount) == [1])
        #expect(keys.map(\.keyID) == ["KEY0000001", "KEY0000002"])
        #expect(keys.map(\.topics) == [["com.example.App"], nil] && keys.map(\.revokedAt) == [nil, 9])
        #expect(keys.map(\.environment) == [nil, nil])
        #expect(certificates.isEmpty)
        #expect(try store.channels().isEmpty)
        #expect(try store.device(device).name == "desk")
        #expect(try store.device(device).enrolledAt == 5)
        #expect(try store.device(device).pendingCount == 1)
        #expect(try store.refusal(.enrol(TestDevice(number: 2).enrolment(codeHash: [7]))) == nil)
    }

    @Test func `a registration of version 1 is for production and stays valid`() throws {
        let store = try TestStore(in: directory)
        let token = DeviceTokenContents(device: device.id, topic: TopicID(rawValue: 2), generation: 4)
        #expect(try store.register(device) == token)
        let accepted = try store.accept([.to(token, "new")]).0
        #expect(accepted == [.accepted])
        let (stream, replies) = try store.attach(device)
        let delivered = replies.delivered(to: stream)
        #expect(delivered.map(\.text) == ["old", "new"] && delivered.map(\.sequence) == [41, 43])
        let ended = DeviceTokenContents(device: device.id, topic: TopicID(rawValue: 1), generation: 3)
        #expect(try store.accept(.to(ended, "a")) == .refused(.unregistered, ended: 6000))
    }

    @Test func `a device of version 1 keeps its filter`() throws {
        let store = try TestStore(in: directory)
        try store.addApp("com.example.Loud")
        let token = try store.register(device, "com.example.Loud")
        #expect(try store.accept(.to(token, "a")) == .accepted)
        #expect(try store.counts().dropped == 1)
    }

    @Test func `a device of version 1 counts as seen when the file is first opened, and not later`() throws {
        for later in [0, 3_000_000] as [Int64] {
            let store = try TestStore(in: directory)
            store.clock.now += later
            #expect(try store.device(device).seenAt == TestStore.startMilliseconds / 1000)
            store.store.stop()
        }
    }

    @Test func `a migrated file has the tables of a new one`() throws {
        try TestStore(in: directory).store.stop()
        let other = try TemporaryDirectory()
        try TestStore(in: other).store.stop()
        #expect(try schema(of: path) == schema(of: other.path(of: "posthorn.sqlite")))
    }

    private func schema(of path: String) throws -> [String] {
        let connection = try Connection(path: path, durability: .full, exclusive: true)
        let select = try connection.prepare("SELECT type || name || coalesce(sql, '') FROM sqlite_schema ORDER BY 1")
        var lines: [String] = []
        while try select.step() { lines.append(select.string(0)) }
        try #require(!lines.isEmpty)
        return lines
    }
}
