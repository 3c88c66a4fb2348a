// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushAPI
import PushCore
@testable import PushStore
import TestSupport
import Testing

@Suite(.tags(.slow)) struct TraceCrashTests {
    @Test func `after any kill each accepted and each acknowledged notification has its trace, once`() async throws {
        let directory = try TemporaryDirectory()
        let (path, diary) = (directory.path(of: "posthorn.sqlite"), directory.path(of: "diary"))
        for round in 0..<max(5, Patience.caseCount / 20) {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, diary = diary as String, seed = round as Int] in
                try traceUntilKilled(path, diary, seed: UInt64(seed))
            }
        }
        let store = try TestStore(path: path)
        var (steps, after) = ([UInt64: [TraceStep]](), Int64(0))
        while true {
            let findings = try store.trace(.app(topic: "com.example.App"), after: after)
            for entry in findings.entries {
                steps[try #require(entry.origin).uniqueID.low, default: []].append(entry.event.step)
            }
            after = findings.next
            if !findings.isMore { break }
        }
        // The kill may cut off the last line, so ignore a line without a line feed.
        let lines = readText(diary).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(!lines.isEmpty)
        for line in lines {
            let found = steps[try #require(UInt64(line.dropFirst()))] ?? []
            for step in line.first == "+" ? [.accepted, .stored] : [.acknowledged, .viewed] as [TraceStep] {
                #expect(found.count { $0 == step } == 1, "\(line): \(found)")
            }
        }
    }
}

/// Accepts and reports as fast as possible, logs each answer, and is killed at a random time.
private func traceUntilKilled(_ path: String, _ diary: String, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = try TestStore(path: path) { $0.pendingPerTopicCountMax = 1_000_000 }
    if seed == 0 { _ = try store.registeredDevice() }
    let device = TestDevice(number: 1)
    let token = DeviceTokenContents(device: device.id, topic: TopicID(rawValue: 1), generation: 1)
    let (stream, attached) = try store.attach(device)
    var delivered = attached.delivered(to: stream)
    let file = Diarist(diary)
    killMyself(afterMicroseconds: .random(in: 50_000...250_000, using: &random))
    for batch in 0... as PartialRangeFrom<UInt64> {
        let numbers = (0..<UInt64.random(in: 1...30, using: &random)).map { seed << 32 | batch << 8 | $0 }
        let (_, replies) = try store.accept(numbers.map { .to(token, "a").identified($0) })
        try file.write("+", numbers.map { "\($0)" })
        delivered += replies.delivered(to: stream)
        try store.report(device, delivered.map { .init(id: $0.sequence, outcome: .viewed) })
        try file.write("-", delivered.map { "\($0.notification.uniqueID.low)" })
        delivered = []
    }
}
