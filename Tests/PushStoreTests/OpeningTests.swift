// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushAPI
import PushCore
import PushSQLite
@testable import PushStore
import TestSupport
import Testing

@Suite struct OpeningTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path(of: "posthorn.sqlite")
    }

    private func open(_ path: String) throws(StoreError) -> SQLiteStore {
        try SQLiteStore(.init(path: path) { .unixEpoch })
    }

    @Test func `a second store on the same file is refused immediately`() throws {
        let first = try open(path)
        let error = #expect(throws: StoreError.self) { try open(path) }
        #expect(error?.isLocked == true)
        #expect(error?.description.contains(path) == true)
        first.stop()
        _ = try open(path)
    }

    @Test func `a second process on the same file is refused immediately`() async throws {
        let first = try open(path)
        let result = await #expect(processExitsWith: .exitCode(75), observing: [\.standardErrorContent]) {
            [path = path as String] in
            do throws(StoreError) {
                _ = try SQLiteStore(.init(path: path) { .unixEpoch })
            } catch {
                FileHandle.standardError.write(Data(error.description.utf8))
                exit(error.isLocked ? 75 : 1)
            }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("Stop the other server"))
        first.stop()
    }

    @Test func `a missing directory is reported with its path and a remedy`() throws {
        let missing = directory.path(of: "none/posthorn.sqlite")
        let error = try #require(throws: StoreError.self) { try open(missing) }
        guard case .cannotOpen(missing, _, _) = error else { throw error }
        #expect(error.description.contains("Create the directory"))
    }

    @Test func `a file of a newer version is reported with both versions`() throws {
        try Connection(path: path, durability: .full, exclusive: true).execute("PRAGMA user_version = 99")
        let error = try #require(throws: StoreError.self) { try open(path) }
        #expect(error == .newerSchema(path: path, found: 99, known: 1))
        #expect(error.description.contains("99") && error.description.contains("up to 1"))
    }

    @Test func `a file that is not a database is reported as damaged`() throws {
        try directory.write(String(repeating: "x", count: 8192), to: "posthorn.sqlite")
        let error = try #require(throws: StoreError.self) { try open(path) }
        guard case .damaged(path, _, _) = error else { throw error }
    }

    @Test func `a file with the wrong tables is reported with the failed migration step`() throws {
        try Connection(path: path, durability: .full, exclusive: true).execute("CREATE TABLE devices(x)")
        let error = try #require(throws: StoreError.self) { try open(path) }
        guard case .migrationFailed(path, 0, _, _) = error else { throw error }
    }

    @Test func `every error says what happened, where, and what to do`() {
        let errors: [StoreError] = [
            .cannotOpen(path: "/p", code: "1", text: "t"), .readOnly(path: "/p", code: "1", text: "t"),
            .locked(path: "/p", code: "1", text: "t"), .newerSchema(path: "/p", found: 2, known: 1),
            .migrationFailed(path: "/p", step: 0, code: "1", text: "t"), .damaged(path: "/p", code: "1", text: "t"),
            .full(path: "/p", code: "1", text: "t"), .inputOutput(path: "/p", code: "1", text: "t"),
            .failed(path: "/p", code: "1", text: "t"),
        ]
        for error in errors {
            #expect(error.description.contains("/p"))
            #expect(error.description.hasSuffix(error.remedy))
            #expect(error.remedy.hasSuffix(".") && !error.remedy.dropLast().contains(". "))
        }
        #expect(Set(errors.map(\.code)).count == errors.count)
        #expect(errors.filter(\.isLocked).count == 1)
    }

    @Test func `only the owner can access the file and its log`() throws {
        let store = try TestStore(in: directory)
        try store.addApp()
        for name in [path, "\(path)-wal"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: name)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    // MARK: Closing

    @Test func `stopping answers all earlier commands and leaves no log`() throws {
        let collector = Collector()
        let store = try open(path)
        store.start(receivers: [collector]) { error in Issue.record(error) }
        let answers = (0..<100).map { ReplyAddress(loop: 0, slot: 0, generation: 0, exchange: $0) }
        store.submit(
            answers.map {
                .perform(.control(.addApp(topic: TopicName("\($0.exchange)"), name: "", teamID: "")), answer: $0)
            })
        store.stop()
        let replies = collector.takeAll()
        #expect(answers.allSatisfy { answer in replies.contains { $0.answers(answer) } })
        #expect(!FileManager.default.fileExists(atPath: "\(path)-wal"))
        store.stop()
        store.submit([.perform(.allDevices(.counts), answer: answers[0])])
        #expect(collector.takeAll().isEmpty)
    }

    @Test func `a store that was never started can be stopped and releases its file`() throws {
        try open(path).stop()
        _ = try open(path)
    }

    @Test func `commands from several threads are all answered`() async throws {
        let store = try TestStore(in: directory)
        let (_, token) = try store.registeredDevice()
        let (handle, threadCount) = (store.store, UInt32(8))
        await withTaskGroup { group in
            for thread in 0..<threadCount {
                group.addTask {
                    for exchange in Int32(0)..<100 {
                        let answer = ReplyAddress(loop: 0, slot: thread, generation: 9, exchange: exchange)
                        handle.submit([.accept(.to(token, "a"), answer: answer)])
                    }
                }
            }
        }
        let replies = try store.run([])
        for thread in 0..<threadCount {
            let exchanges: [Int32] = replies.compactMap { reply in
                if case .accepted(let answer) = reply, answer.slot == thread, answer.generation == 9 {
                    answer.exchange
                } else {
                    nil
                }
            }
            #expect(exchanges.sorted() == Array(0..<100))
        }
        #expect(try store.counts().accepted == 800)
    }
}
