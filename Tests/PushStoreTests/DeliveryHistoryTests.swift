// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import TestSupport
import Testing

@testable import PushStore

@Suite struct DeliveryHistoryTests {
    private let device = DeviceID(rawValue: 1)

    private func topic(_ number: UInt32) -> TopicID { TopicID(rawValue: number) }

    private func entries(_ generator: inout SeededGenerator, count: Int) -> [DeliveryHistory.Entry] {
        var sequence: Int64 = 0
        return (0..<count).map { _ in
            sequence += Int64.random(in: 1...(Bool.random(using: &generator) ? 100 : 1 << 40), using: &generator)
            return DeliveryHistory.Entry(
                sequence: sequence, topic: topic(.random(in: 0 ... .max, using: &generator)),
                marks: DeliveryHistory.Marks(rawValue: .random(in: 0 ... .max, using: &generator)))
        }
    }

    @Test(arguments: 0..<20)
    func `entries survive writing and reading, and a changed row does not crash`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let entries = entries(&generator, count: Int.random(in: 0...40, using: &generator))
        var bytes: [UInt8] = []
        DeliveryHistoryTable.append(entries, to: &bytes)
        #expect(DeliveryHistoryTable.decode(bytes.span) == entries, "seed \(seed)")
        for _ in 0..<200 {
            var changed = bytes
            changed[Int.random(in: 0..<changed.count, using: &generator)] ^= .random(in: 1 ... .max, using: &generator)
            changed.removeLast(Int.random(in: 0...min(3, changed.count), using: &generator))
            let read = DeliveryHistoryTable.decode(changed.span)
            #expect(zip(read, read.dropFirst()).allSatisfy { $0.sequence < $1.sequence }, "seed \(seed)")
        }
    }

    @Test func `a sequence is found whether it was sent in order, out of order or again`() {
        let history = DeliveryHistory(device)
        for sequence in [5, 9, 7, 1, 20] as [Int64] {
            #expect(history.noteSent(sequence, topic(1), isBroadcast: false) == .first)
        }
        #expect(history.entries.map(\.sequence) == [1, 5, 7, 9, 20])
        for sequence in [.min, 0, 2, 8, 21, .max] as [Int64] { #expect(history.index(of: sequence) == nil) }
        history.mark(history.index(of: 7) ?? 0, [.acknowledged, .init(.shown)])
        #expect(history.noteSent(7, topic(1), isBroadcast: false) == .second)
        #expect(history.noteSent(7, topic(1), isBroadcast: false) == .further)
        #expect(history.entries[2].marks == [.init(.shown), .sentAgain])
    }

    @Test func `entries from the table are merged with those sent since`() {
        let history = DeliveryHistory(device)
        for sequence in [8, 12] as [Int64] { _ = history.noteSent(sequence, topic(1), isBroadcast: false) }
        history.load([
            .init(sequence: 3, topic: topic(2), marks: .acknowledged),
            .init(sequence: 8, topic: topic(1), marks: [.acknowledged, .init(.viewed)]),
        ])
        #expect(history.entries.map(\.sequence) == [3, 8, 12])
        #expect(history.entries[1].marks == .init(.viewed) && history.entries[0].marks == .acknowledged)
    }

    @Test(arguments: 0..<50)
    func `trimming keeps the newest entries of each team, in equal shares`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let history = DeliveryHistory(device)
        let teamCount = UInt32.random(in: 1...6, using: &generator)
        for sequence in 1...200 as ClosedRange<Int64> {
            let topic = topic(.random(in: 0...UInt32.random(in: 0..<teamCount, using: &generator), using: &generator))
            _ = history.noteSent(sequence, topic, isBroadcast: false)
        }
        let before = history.entries
        let bound = Int.random(in: 1...220, using: &generator)
        let removed = history.trim(to: bound) { Int($0.rawValue) }
        #expect(removed == before.count - history.entries.count && history.entries.count <= max(bound, 0))
        #expect(history.entries.count > min(bound, 200) - Int(teamCount))
        for team in 0..<teamCount {
            let (all, kept) = (
                before.filter { $0.topic == topic(team) }, history.entries.filter { $0.topic == topic(team) }
            )
            #expect(kept == Array(all.suffix(kept.count)), "seed \(seed)")
            #expect(kept.count == all.count || kept.count >= bound / Int(teamCount), "seed \(seed)")
        }
    }
}
