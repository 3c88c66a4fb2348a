// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushAPI
import PushCore
import PushSQLite
@testable import PushStore
import TestSupport
import Testing

@Suite struct DamageTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path(of: "posthorn.sqlite")
    }

    /// Fills a store with three notifications and closes it.
    private func prepare() throws {
        let store = try TestStore(in: directory)
        let (_, token) = try store.registeredDevice()
        _ = try store.accept(["first", "second", "third"].map { .to(token, $0, collapseID: $0) })
        store.store.stop()
    }

    /// The changes of a row that a disk may cause.
    private static let changes =
        [
            "record = zeroblob(4)", "record = zeroblob(0)", "record = zeroblob(length(record))", "topic = 2",
            "record = CAST('x' AS BLOB)",
        ] + [0, 1, 2, 3, 4, 8, 16, 24, 40, 42, 44, 48, 60, 70, 90].map { oneByteChanged($0) }

    @Test(arguments: changes)
    func `a row that was changed outside the store is dropped and reported, and its neighbors are delivered`(
        change: String
    ) throws {
        try prepare()
        try "UPDATE pending SET \(change) WHERE sequence = 2".runBySQLite(path)
        let store = try TestStore(in: directory)
        let device = TestDevice(number: 1)
        #expect(try store.waiting(device) == ["first", "third"])
        #expect(store.notices.all == [.damagedRow(sequence: 2)])
        #expect(try store.counts().pending == 2)
        #expect(try store.counts().dropped == 1)
    }

    @Test(arguments: [
        "UPDATE broadcasts SET payload = CAST('secund' AS BLOB) WHERE sequence = 2",
        "UPDATE broadcasts SET topic_name = 'com.example.Apq' WHERE sequence = 2",
        "UPDATE broadcasts SET request_id = x'00' WHERE sequence = 2",
        "UPDATE broadcasts SET unique_high = 1 WHERE sequence = 2",
        "UPDATE broadcasts SET accepted_at_ms = 1 WHERE sequence = 2",
        "UPDATE broadcasts SET priority = NULL WHERE sequence = 2",
        "UPDATE broadcasts SET expiration = 99 WHERE sequence = 2",
        "UPDATE broadcasts SET checksum = checksum + 1 WHERE sequence = 2",
        "UPDATE channels SET id = zeroblob(16) WHERE number = 2",
    ])
    func `a broadcast that was changed outside the store is dropped and reported once for all subscribers`(
        change: String
    ) throws {
        do {
            let store = try TestStore(in: directory)
            let station = try Station(store)
            let channels = try (1...3).map { try station.subscribedChannel($0) }
            let other = try station.another(2)
            for channel in channels { try store.subscribe(other, to: channel) }
            _ = try store.publish(zip(channels, ["first", "second", "third"]).map { .to($0, $1) })
            store.store.stop()
        }
        try change.runBySQLite(path)
        let store = try TestStore(in: directory)
        for number in UInt64(1)...2 {
            #expect(try store.waiting(TestDevice(number: number)) == ["first", "third"])
        }
        #expect(store.notices.all == [.damagedRow(sequence: 2)])
        let counts = try store.counts()
        #expect(counts.pending == 2 && counts.dropped == 1)
    }

    @Test func `a damaged row does not block the rest of a long queue`() throws {
        let count = Limits.unacknowledgedCountMax + 5
        do {
            let store = try TestStore(in: directory)
            let (_, token) = try store.registeredDevice()
            _ = try store.accept((1...count).map { .to(token, "\($0)") })
            store.store.stop()
        }
        let last = Limits.unacknowledgedCountMax
        try "UPDATE pending SET record = x'00' WHERE sequence IN (2, \(last))".runBySQLite(path)
        let store = try TestStore(in: directory)
        let device = TestDevice(number: 1)
        let intact = (1...count).filter { $0 != 2 && $0 != last }.map(String.init)
        let (stream, replies) = try store.attach(device)
        let first = replies.delivered(to: stream)
        #expect(first.map(\.text) == Array(intact.prefix(last)))
        let rest = try store.acknowledge(device, first.map(\.sequence)).delivered(to: stream)
        #expect((first + rest).map(\.text) == intact)
        #expect(store.notices.all.count == 2)
    }

    @Test func `the check reports a notification that is missing from its device's queue`() throws {
        do {
            let store = try TestStore(in: directory) { $0.recentCountMax = 0 }
            let (_, token) = try store.registeredDevice()
            for text in ["first", "second", "third"] { _ = try store.accept([.to(token, text)]) }
            store.store.stop()
        }
        #expect(try StoreCheck(path: path).problems == [])
        try "DELETE FROM archived WHERE sequence = 2".runBySQLite(path)
        #expect(try StoreCheck(path: path).problems == ["pending notification 2 is missing from the table archived"])
    }

    @Test func `an altered table is reported as damage by the check and at the start`() throws {
        try TestStore(in: directory).store.stop()
        try "ALTER TABLE topics RENAME COLUMN team TO teal".runBySQLite(path)
        let problem = "the definition of topics differs from the schema"
        #expect(try StoreCheck(path: path).problems == [problem])
        #expect(throws: StoreError.damaged(path: path, code: "11", text: problem)) {
            try TestStore(in: directory)
        }
    }

    @Test(arguments: [Int64.max, -1])
    func `an impossible last sequence is reported as damage`(sequence: Int64) throws {
        try prepare()
        try "UPDATE state SET value = \(sequence)".runBySQLite(path)
        let error = try #require(throws: StoreError.self) { try TestStore(in: directory) }
        guard case .damaged(path, _, _) = error else { throw error }
    }

    @Test(.tags(.slow)) func `flipped bits never change a delivered text`() throws {
        try prepare()
        let intact = try Data(contentsOf: URL(fileURLWithPath: path))
        var (openedCount, toldCount) = (0, 0)
        for seed in UInt64(0)..<20 {
            var random = SeededGenerator(seed: seed)
            var bytes = intact
            for _ in 0..<1 + seed {
                let bit = Int.random(in: 0..<bytes.count * 8, using: &random)
                bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            }
            let directory = try TemporaryDirectory()
            try bytes.write(to: URL(fileURLWithPath: directory.path(of: "posthorn.sqlite")))
            // A store that does not open, or refuses every request, has delivered no wrong text either.
            guard let store = try? TestStore(in: directory) else { continue }
            openedCount += 1
            guard let texts = try? store.waiting(TestDevice(number: 1)) else { continue }
            toldCount += texts.isEmpty ? 0 : 1
            #expect(texts.allSatisfy { ["first", "second", "third"].contains($0) }, "seed \(seed)")
        }
        #expect(openedCount > 0 && toldCount > 0, "\(openedCount) opened, \(toldCount) told a text")
    }

    @Test func `a damaged page of notifications is reported at the start with a remedy`() throws {
        try prepare()
        try damageLeaves()
        let error = try #require(throws: StoreError.self) { try TestStore(in: directory) }
        guard case .damaged(path, _, _) = error else { throw error }
        #expect(error.description.contains("restore the last backup"))
    }

    /// Overwrites the pages that contain notifications, but no page of an index.
    private func damageLeaves() throws {
        var pages: [Int] = []
        do {
            let connection = try Connection(path: path, durability: .full, exclusive: true)
            let select = try connection.prepare("SELECT pageno FROM dbstat WHERE name = 'pending'")
            while try select.step() { pages.append(Int(select.int64(0))) }
        }
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        for page in pages {
            bytes.replaceSubrange((page - 1) * 4096..<page * 4096, with: [UInt8](repeating: 0xA5, count: 4096))
        }
        try #require(!pages.isEmpty)
        try bytes.write(to: URL(fileURLWithPath: path))
    }
}

/// Returns an assignment that changes the byte of a record at an offset.
private func oneByteChanged(_ offset: Int) -> String {
    let byte = "substr(record, \(offset + 1), 1)"
    return """
        record = CAST(substr(record, 1, \(offset)) || CASE \(byte) WHEN x'00' THEN x'01' ELSE x'00' END
            || substr(record, \(offset + 2)) AS BLOB)
        """
}

extension String {
    /// Runs this text as SQL with the system's `sqlite3`, to change bytes behind the store's back.
    fileprivate func runBySQLite(_ path: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try RepositoryPaths.tool("sqlite3"))
        process.arguments = [path, self]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw MissingReply(what: "sqlite3 \(self)") }
    }
}
