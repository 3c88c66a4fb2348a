// SPDX-License-Identifier: Apache-2.0

@testable import PushAPI
import PushCore
import TestSupport
import Testing

struct TraceEventTests {
    private func event(_ generator: inout SeededGenerator) -> TraceEvent {
        func number() -> UInt64 { generator.next() }
        let step = TraceStep.allCases[Int.random(in: 0..<TraceStep.allCases.count, using: &generator)]
        let detail = TraceDetail.allCases[Int.random(in: 0..<TraceDetail.allCases.count, using: &generator)]
        let origin = TraceEvent.Origin(
            topic: TopicID(rawValue: UInt32(truncatingIfNeeded: number())),
            generation: UInt32(truncatingIfNeeded: number()), uniqueID: UniqueID(high: number(), low: number()),
            apnsID: UniqueID(high: number(), low: number()), hasCapitals: number() % 2 == 0)
        let (sequence, device) = (Int64(bitPattern: number()), DeviceID(rawValue: number()))
        let time = Timestamp(unixMilliseconds: Int64(bitPattern: number()))
        if step == .accepted {
            return TraceEvent(accepted: origin, detail, sequence: sequence, device: device, at: time)
        }
        return TraceEvent(step, detail, sequence: sequence, topic: origin.topic, device: device, at: time)
    }

    @Test(arguments: seeds)
    func `packed events are read again, one by one`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let events = (0..<20).map { _ in event(&generator) }
        var bytes: [UInt8] = []
        for event in events { event.append(to: &bytes) }
        var (offset, read) = (0, [TraceEvent]())
        while let event = TraceEvent(bytes.span, at: &offset) { read.append(event) }
        #expect(read == events && offset == bytes.count, "seed \(seed)")
        let acceptedCount = events.count { $0.step == .accepted }
        #expect(bytes.count == 30 * events.count + 36 * acceptedCount, "seed \(seed)")
    }

    @Test(arguments: [TraceStep.accepted, .sent])
    func `a truncated event is refused`(step: TraceStep) throws {
        var generator = SeededGenerator(seed: 1)
        var sample = event(&generator)
        while sample.step != step { sample = event(&generator) }
        var bytes: [UInt8] = []
        sample.append(to: &bytes)
        for count in 0..<bytes.count {
            let cut = Array(bytes[..<count])
            var offset = 0
            #expect(TraceEvent(cut.span, at: &offset) == nil && offset == 0)
        }
        for offset in [-1, bytes.count, bytes.count + 1, Int.max, Int.min] {
            var place = offset
            #expect(TraceEvent(bytes.span, at: &place) == nil && place == offset)
        }
    }

    @Test(arguments: [0, 14, 0x83, 255] as [UInt8]) func `an unknown step is refused`(step: UInt8) {
        let bytes = [step] + [UInt8](repeating: 0, count: 80)
        var offset = 0
        #expect(TraceEvent(bytes.span, at: &offset) == nil)
    }

    @Test func `each step and each reason has a unique word`() {
        #expect(Set(TraceStep.allCases.map(\.word)).count == TraceStep.allCases.count)
        let words = TraceDetail.allCases.compactMap(\.word)
        #expect(Set(words).count == words.count && words.count == TraceDetail.allCases.count - 2)
        for detail in TraceDetail.allCases { #expect((detail.word == nil) == (detail.meaning == nil)) }
    }

    @Test(arguments: [
        (nil, TraceDetail.none), ("", .none), ("master-off", .masterOff), ("too-many", .tooMany),
        ("replaced", .replacedOnDevice), ("the cat sat on it", .otherReason),
        // The server's own words are not valid reasons from a device.
        ("damaged", .otherReason), ("too-many-of-topic", .otherReason),
    ])
    func `a device's reason is a known one or other`(text: String?, detail: TraceDetail) {
        #expect(TraceDetail(deviceReason: text) == detail)
    }
}
