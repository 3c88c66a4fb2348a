// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushAPI
import PushCore
import PushSQLite
@testable import PushStore
import TestSupport
import Testing

@Suite struct BackupTests {
    private let store: TestStore
    private let device: TestDevice
    private let token: DeviceTokenContents
    private let files: TemporaryDirectory
    private let copy: String

    init() throws {
        store = try TestStore { $0.pendingPerTopicCountMax = 100_000 }
        (device, token) = try store.registeredDevice()
        files = try TemporaryDirectory()
        copy = files.path(of: "copy.sqlite")
    }

    /// Records the progress and the end of a copy.
    private struct Watch {
        let ends = Told<StoreError?>()
        let steps = Told<StoreBackup.Progress>()

        func order(_ path: String) -> StoreBackup {
            let (ends, steps) = (ends, steps)
            return StoreBackup(path: path, onProgress: { steps.add($0) }, onEnd: { ends.add($0) })
        }
    }

    private func fill(_ range: Range<Int>) throws -> [String] {
        let texts = range.map { "\($0) " + String(repeating: "x", count: 3000) }
        #expect(try store.accept(texts.map { .to(token, $0) }).0.allSatisfy { $0 == .accepted })
        return texts
    }

    @Test func `a copy that is made under load holds exactly the notifications accepted before its end`() throws {
        var accepted = try fill(0..<1000)
        let watch = Watch()
        try store.succeed(.backup(watch.order(copy)))
        var isRunning = true
        for batch in 0..<1000 where isRunning {
            accepted += try fill(1000 + batch * 4..<1004 + batch * 4)
            isRunning = watch.ends.all.isEmpty
        }
        #expect(watch.ends.all == [nil])
        #expect(watch.steps.all.count > 10 && watch.steps.all.last?.remainingPageCount == 0)
        let check = try StoreCheck(path: copy)
        #expect(check.problems == [])
        let copied = try texts(in: copy)
        #expect(copied.count >= 1000 && copied == Array(accepted.prefix(copied.count)))
        #expect(try store.counts().pending == accepted.count)
    }

    @Test func `a copy survives rollbacks and checkpoints of the store`() throws {
        _ = try fill(0..<1000)
        let watch = Watch()
        try store.succeed(.backup(watch.order(copy)))
        for round in 0..<2000 where watch.ends.all.isEmpty {
            // The store refuses to add an app, and removing an app frees pages that later commits reuse.
            _ = try store.refusal(.control(.addApp(topic: TopicName("\(round)"), name: "", teamID: "")))
            try store.succeed(.control(.removeApp(topic: TopicName("\(round)"))))
        }
        #expect(watch.ends.all == [nil])
        #expect(try StoreCheck(path: copy).problems == [])
    }

    @Test func `only one copy runs at a time, it replaces no file, and its failure does not affect the store`() throws {
        _ = try fill(0..<1000)
        try Data().write(to: URL(fileURLWithPath: copy))
        let refused = Watch()
        guard case .unavailable(let text) = try store.refusal(.backup(refused.order(copy))) else {
            Issue.record("a file that is there was overwritten")
            return
        }
        #expect(text.contains(copy) && refused.ends.all.count == 1 && refused.ends.all[0] != nil)
        let full = Watch()
        _ = try store.refusal(.backup(full.order("/dev/full/copy")))
        #expect(full.ends.all.count == 1)
        let (first, second) = (Watch(), Watch())
        let answers = [store.address(), store.address()]
        let replies = try store.run(
            zip(["1", "2"], [first, second]).enumerated().map { index, pair in
                .perform(.backup(pair.1.order(files.path(of: pair.0))), answer: answers[index])
            })
        let refusals = replies.compactMap { reply -> StoreRefusal? in
            if case .performed(.failure(let refusal), _) = reply { refusal } else { nil }
        }
        #expect(refusals == [.alreadyExists])
        #expect(try store.accept(.to(token, "after")) == .accepted)
    }

    @Test func `stopping the store ends a running copy and reports its end`() throws {
        _ = try fill(0..<2000)
        let watch = Watch()
        store.store.submit([.perform(.backup(watch.order(copy)), answer: store.address())])
        store.store.stop()
        #expect(watch.ends.all.count == 1)
    }

    @Test func `a restored file continues after every sequence that may have been assigned`() throws {
        _ = try fill(0..<3)
        let watch = Watch()
        try store.succeed(.backup(watch.order(copy)))
        while watch.ends.all.isEmpty { _ = try store.counts() }
        try StoreRestore.prepare(path: copy)
        let restored = try TestStore(path: copy)
        _ = try restored.accept(.to(token, "new"))
        let (stream, replies) = try restored.attach(device)
        let sequences = replies.delivered(to: stream).map(\.sequence)
        #expect(sequences.count == 4 && sequences[3] - sequences[2] > 1 << 39)
    }

    @Test func `a check reports a changed row, a reference to a missing row, and a file in use`() throws {
        _ = try fill(0..<3)
        #expect(throws: StoreError.self) { try StoreCheck(path: store.path) }
        store.store.stop()
        let good = try StoreCheck(path: store.path)
        #expect(good.problems == [] && good.pendingCount == 3)
        try change("UPDATE pending SET record = x'7B7D' WHERE sequence = 2")
        #expect(try StoreCheck(path: store.path).problems == ["notification 2 has a wrong checksum"])
        try change("PRAGMA foreign_keys = OFF; DELETE FROM topics")
        let problems = try StoreCheck(path: store.path).problems
        #expect(problems == ["a row of registrations refers to a row of topics that is missing"])
    }

    @Test func `an unused file is checked in a read-only directory, without creating a file beside it`() throws {
        _ = try fill(0..<3)
        let watch = Watch()
        let open = try TemporaryDirectory(isOpen: true)
        let directory = try open.makeDirectory("50% #1?")
        try store.succeed(.backup(watch.order("\(directory)/copy.sqlite")))
        while watch.ends.all.isEmpty { _ = try store.counts() }
        let manager = FileManager.default
        try manager.setAttributes([.posixPermissions: 0o444], ofItemAtPath: "\(directory)/copy.sqlite")
        try manager.setAttributes([.posixPermissions: 0o555], ofItemAtPath: directory)
        defer { try? manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: directory) }
        let check = try OrdinaryUser.run {
            #expect(throws: (any Error).self, "nothing can be written") {
                try Data().write(to: URL(fileURLWithPath: "\(directory)/copy.sqlite-shm"))
            }
            return try StoreCheck(path: "\(directory)/copy.sqlite", isStill: true)
        }
        #expect(check.problems == [] && check.pendingCount == 3)
        #expect(try manager.contentsOfDirectory(atPath: directory) == ["copy.sqlite"])
        #expect(throws: StoreError.self) { try StoreCheck(path: files.path(of: "none.sqlite"), isStill: true) }
        #expect(!manager.fileExists(atPath: files.path(of: "none.sqlite")))
    }

    /// Returns the text of every notification in a file, in order.
    private func texts(in path: String) throws -> [String] {
        let store = try TestStore(path: path) { $0.pendingPerTopicCountMax = 100_000 }
        var (stream, replies) = try store.attach(device)
        var texts: [String] = []
        while !replies.delivered(to: stream).isEmpty {
            let delivered = replies.delivered(to: stream)
            texts += delivered.map(\.text)
            replies = try store.acknowledge(device, delivered.map(\.sequence))
        }
        stream = store.address()
        return texts
    }

    private func change(_ sql: StaticString) throws {
        try Connection(path: store.path, durability: .full, exclusive: true).execute(sql)
    }
}
