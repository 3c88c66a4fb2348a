// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import Testing

/// Checks the directories that loops receive, and the streams that administrators see.
@Suite struct DirectoryTests {
    private let store: TestStore

    init() throws { store = try TestStore(loopCount: 2) }

    /// Returns the directories that a loop received since the last call.
    private func directories(_ loop: Int) -> [Directory] {
        store.collectors[loop].takeAll().compactMap {
            if case .directory(let directory) = $0 { directory } else { nil }
        }
    }

    @Test func `removing an app cancels its deliveries in the same batch`() throws {
        try store.addApp()
        let device = try store.enrol()
        let token = try store.register(device)
        let (stream, _) = try store.attach(device)
        let replies = try store.run([
            .accept(.to(token, "a"), answer: store.address()),
            .accept(.to(token, "now", expiration: 0), answer: store.address()),
            .perform(.control(.removeApp(topic: "com.example.App")), answer: store.address()),
        ])
        #expect(replies.delivered(to: stream).isEmpty)
    }

    @Test func `a request in the same batch as an attach already sees the stream`() throws {
        let device = try store.enrol()
        let answer = store.address()
        let replies = try store.run([
            .attach(device.credential, stream: store.address()),
            .perform(.administer(device.id, .describe), answer: answer),
        ])
        let isConnected = replies.contains { reply in
            if case .performed(.success(.device(let device)), answer) = reply { device.connected } else { false }
        }
        #expect(isConnected)
    }

    @Test func `each loop receives the directory at the start and after each change`() throws {
        _ = try store.collectors[1].take("the first directory") { !$0.isEmpty }
        try store.addApp()
        try store.succeed(.control(.addKey(signingKey("KEY0000000", topics: ["a"]))))
        try store.succeed(.control(.revokeKey(id: "KEY0000000")))
        try store.succeed(.control(.removeApp(topic: "com.example.App")))
        let seen = directories(1)
        #expect(
            seen.map { $0.topics.values.map(\.name) } == [
                ["com.example.App"], ["com.example.App"], ["com.example.App"], [],
            ])
        #expect(seen.map { $0.keys["KEY0000000"] != nil } == [false, true, true, true])
        #expect(seen[2].keys["KEY0000000"]?.revokedAt?.unixSeconds == store.clock.now / 1000)
        #expect(seen[1].keys["KEY0000000"] == signingKey("KEY0000000", topics: ["a"]))
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.version < $1.version })
    }

    @Test func `a changed directory precedes the answer to the request that changed it`() throws {
        let answer = store.address()
        store.store.submit([.perform(.control(.addApp(topic: "a", name: "", teamID: "")), answer: answer)])
        let replies = try store.collectors[0].take("the answer") { $0.contains { $0.answers(answer) } }
        let directory = try #require(
            replies.lastIndex { if case .directory(let directory) = $0 { directory.topics.count == 1 } else { false } })
        let answered = try #require(replies.firstIndex { $0.answers(answer) })
        #expect(directory < answered)
    }

    @Test func `a command that changes neither apps nor keys sends no directory`() throws {
        try store.addApp()
        _ = directories(0)
        _ = directories(1)
        let device = try store.enrol()
        try store.accept(.to(try store.register(device), "a"))
        #expect(try store.refusal(.control(.addApp(topic: "com.example.App", name: "", teamID: ""))) == .alreadyExists)
        #expect(directories(1).isEmpty)
    }
}
