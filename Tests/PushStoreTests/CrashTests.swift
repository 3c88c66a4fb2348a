// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushCore
import PushSQLite
@testable import PushStore
import TestSupport
import Testing

@Suite(.tags(.slow)) struct CrashTests {
    /// The log of the killed process.
    private struct Diary {
        var accepted: Set<String> = []
        /// The notifications whose acknowledgement was started; they may or may not be removed.
        var doubtful: Set<String> = []
        var acknowledged: Set<String> = []

        init(_ text: String) {
            // The kill may cut off the last line, so ignore a line without a line feed.
            for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
                let word = String(line.dropFirst())
                switch line.first {
                case "+": accepted.insert(word)
                case "?": doubtful.insert(word)
                case "-": acknowledged.insert(word)
                default: Issue.record("a line of the diary: \(line)")
                }
            }
        }
    }

    @Test func `after any kill accepted notifications are stored and acknowledged ones are gone`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "posthorn.sqlite")
        let diary = directory.path(of: "diary")
        var acceptedCount = 0
        for round in 0..<max(10, Patience.caseCount / 10) {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, diary = diary as String, seed = round as Int] in
                try liveUntilKilled(path, diary, seed: UInt64(seed))
            }
            let written = Diary(readText(diary))
            let waiting = try rows(of: path)
            let missing = written.accepted.subtracting(written.doubtful).subtracting(waiting)
            #expect(missing == [], "round \(round)")
            #expect(waiting.intersection(written.acknowledged) == [], "round \(round)")
            acceptedCount = written.accepted.count
        }
        #expect(acceptedCount > 0)
    }

    /// Returns the payloads in the table, after checking the file with SQLite.
    private func rows(of path: String) throws -> Set<String> {
        let connection = try Connection(path: path, durability: .full, exclusive: true)
        let check = try connection.prepare("PRAGMA integrity_check")
        try #require(try check.step() && check.string(0) == "ok")
        let select = try connection.prepare("SELECT record FROM pending")
        var texts: Set<String> = []
        while try select.step() { texts.insert(payload(ofRecord: select.bytes(0))) }
        return texts
    }
}

/// Accepts and acknowledges as fast as possible, logs each answer, and is killed at a random time.
private func liveUntilKilled(_ path: String, _ diary: String, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try TestStore(path: path) { $0.pendingPerTopicCountMax = 1_000_000 }
    if seed == 0 { _ = try store.registeredDevice() }
    let (device, token) = (
        TestDevice(number: 1),
        DeviceTokenContents(device: DeviceID(rawValue: 1), topic: TopicID(rawValue: 1), generation: 1)
    )
    let (stream, attached) = try store.attach(device)
    var delivered = attached.delivered(to: stream)
    let file = Diarist(diary)
    killMyself(afterMicroseconds: .random(in: 0...150_000, using: &random))
    for batch in 0... {
        let texts = (0..<Int.random(in: 1...50, using: &random)).map { "\(seed).\(batch).\($0)" }
        let (answers, replies) = try store.accept(texts.map { .to(token, $0) })
        try file.write("+", zip(texts, answers).filter { $0.1 == .accepted }.map(\.0))
        delivered += replies.delivered(to: stream)
        let count = Int.random(in: 0...delivered.count, using: &random)
        let (now, later) = (delivered.prefix(count), delivered.dropFirst(count))
        try file.write("?", now.map(\.text))
        let more = try store.acknowledge(device, now.map(\.sequence))
        try file.write("-", now.map(\.text))
        delivered = later + more.delivered(to: stream)
    }
}

/// Kills this process, as a crash would.
func killMyself(afterMicroseconds delay: UInt32) {
    Thread.detachNewThread {
        usleep(delay)
        kill(getpid(), SIGKILL)
    }
}

/// Returns the payload in a record of `pending`, whose lengths are at fixed offsets.
private func payload(ofRecord bytes: [UInt8]) -> String {
    let lengths = [40, 42, 44].map { Int(bytes[$0]) + Int(bytes[$0 + 1]) << 8 }
    return String(decoding: bytes[(48 + lengths.reduce(0, +))..<(bytes.count - 8)], as: UTF8.self)
}
