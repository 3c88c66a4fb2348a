// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushCore
import PushSQLite
@testable import PushStore
import TestSupport
import Testing

private let channelCount: UInt64 = 3

@Suite(.tags(.slow)) struct BroadcastCrashTests {
    /// The log of the killed process.
    private struct Diary {
        /// The broadcasts of each channel in the order of sending.
        var sent: [UInt64: [String]] = [:]
        /// The last accepted broadcast of each channel.
        var accepted: [UInt64: String] = [:]
        /// The broadcasts whose acknowledgement was started; it may or may not have been stored.
        var doubtful: Set<String> = []
        var acknowledged: Set<String> = []

        init(_ text: String) {
            // The kill may cut off the last line, so ignore a line without a line feed.
            for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
                let word = String(line.dropFirst())
                let channel = word.split(separator: ".").last.flatMap { UInt64($0) } ?? 0
                switch line.first {
                case ">": sent[channel, default: []].append(word)
                case "+": accepted[channel] = word
                case "?": doubtful.insert(word)
                case "-": acknowledged.insert(word)
                default: Issue.record("a line of the diary: \(line)")
                }
            }
        }

        /// Returns the texts that a channel may store: the last accepted one, or a later one whose answer was not
        /// logged.
        func possible(_ channel: UInt64) -> Set<String?> {
            let sent = sent[channel, default: []]
            guard let accepted = accepted[channel], let index = sent.lastIndex(of: accepted) else {
                return Set(sent + [nil])
            }
            return Set(sent[index...])
        }
    }

    @Test func `after any kill each channel has its last accepted broadcast for those that did not acknowledge`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "posthorn.sqlite")
        let diary = directory.path(of: "diary")
        var acknowledgedCount = 0
        for round in 0..<max(10, Patience.caseCount / 10) {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, diary = diary as String, seed = round as Int] in
                try publishUntilKilled(path, diary, seed: UInt64(seed))
            }
            let written = Diary(readText(diary))
            let stored = try stored(in: path)
            for channel in 1...channelCount {
                #expect(written.possible(channel).contains(stored[channel]?.text), "round \(round)")
                guard let (text, isWaiting) = stored[channel] else { continue }
                if written.acknowledged.contains(text) { #expect(!isWaiting, "round \(round)") }
                if !written.doubtful.contains(text) { #expect(isWaiting, "round \(round)") }
            }
            acknowledgedCount = written.acknowledged.count
        }
        #expect(acknowledgedCount > 0)
    }

    /// Checks the file with SQLite; returns the stored text of each channel and whether it waits for the device.
    private func stored(in path: String) throws -> [UInt64: (text: String, isWaiting: Bool)] {
        let connection = try Connection(path: path, durability: .full, exclusive: true)
        let check = try connection.prepare("PRAGMA integrity_check")
        try #require(try check.step() && check.string(0) == "ok")
        let foreignKeys = try connection.prepare("PRAGMA foreign_key_check")
        try #require(try !foreignKeys.step())
        let select = try connection.prepare(
            """
            SELECT channel, payload, sequence > since, sequence <= (SELECT value FROM state WHERE name = 'last_sequence')
            FROM broadcasts JOIN subscriptions USING (channel)
            """)
        var rows: [UInt64: (String, Bool)] = [:]
        while try select.step() {
            rows[UInt64(select.int64(0))] = (String(decoding: select.bytes(1), as: UTF8.self), select.int64(2) != 0)
            #expect(select.int64(3) != 0, "a sequence must never be given out again")
        }
        return rows
    }
}

/// Publishes and acknowledges as fast as possible, logs each answer, and is killed at a random time.
private func publishUntilKilled(_ path: String, _ diary: String, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try TestStore(path: path)
    if seed == 0 {
        let station = try Station(store)
        for number in 1...channelCount { _ = try station.subscribedChannel(number) }
    }
    let device = TestDevice(number: 1)
    let (stream, attached) = try store.attach(device)
    var delivered = attached.delivered(to: stream)
    let file = Diarist(diary)
    killMyself(afterMicroseconds: .random(in: 0...150_000, using: &random))
    for batch in 0... {
        let broadcasts = (0..<Int.random(in: 1...8, using: &random)).map { index in
            let number = UInt64.random(in: 1...channelCount, using: &random)
            let channel = TestChannel(id: ChannelID(high: .max, low: number), topic: TopicID(rawValue: 1))
            return Broadcast.to(channel, "\(seed).\(batch).\(index).\(number)")
        }
        let texts = broadcasts.map { String(decoding: $0.payload, as: UTF8.self) }
        try file.write(">", texts)
        let (answers, replies) = try store.publish(broadcasts)
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
