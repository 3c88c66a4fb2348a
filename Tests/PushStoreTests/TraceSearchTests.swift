// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushSQLite
import TestSupport
import Testing

@testable import PushStore

@Suite struct TraceSearchTests {
    private let table: TraceTable
    private let end: Int64

    /// Creates a trace with two rows: the first events of three notifications of app 1, and a device's outcomes.
    init() throws {
        let directory = try TemporaryDirectory()
        let connection = try Connection(
            path: directory.path(of: "posthorn.sqlite"), durability: .full, exclusive: true)
        try Schema.migrations.apply(to: connection)
        table = try TraceTable(connection)
        let (device, topic) = (DeviceID(rawValue: 1), TopicID(rawValue: 1))
        var (beginnings, outcomes) = ([UInt8](), [UInt8]())
        for sequence in 1...3 as ClosedRange<Int64> {
            let id = UniqueID(high: 1, low: UInt64(sequence))
            TraceEvent(
                accepted: .init(topic: topic, generation: 1, uniqueID: id, apnsID: id), sequence: sequence,
                device: device, at: Timestamp(unixMilliseconds: 1)
            ).append(to: &beginnings)
            TraceEvent(
                .shown, sequence: sequence, topic: topic, device: device, at: Timestamp(unixMilliseconds: 2)
            ).append(to: &outcomes)
        }
        end = Int64(beginnings.count)
        for (position, events) in [(0, beginnings), (end, outcomes)] {
            try table.append(
                TraceTable.Row(
                    position: position, firstEventAt: Timestamp(unixMilliseconds: 1),
                    lastEventAt: Timestamp(unixMilliseconds: 2), lastSequence: 3, events: events))
        }
    }

    @Test func `the search for a lost first event is bounded after the clock was set back`() throws {
        let (topic, device) = (TopicID(rawValue: 1), DeviceID(rawValue: 1))
        var position = end * 2
        for _ in 0..<WriterLimits.traceRowsPerOriginCountMax + 10 {
            var events: [UInt8] = []
            TraceEvent(.shown, sequence: 9, topic: topic, device: device, at: .unixEpoch).append(to: &events)
            let row = TraceTable.Row(
                position: position, firstEventAt: .unixEpoch, lastEventAt: .unixEpoch, lastSequence: 9, events: events)
            try table.append(row)
            position = row.end
        }
        let origins = TraceOrigins(table)
        let event = TraceEvent(.shown, sequence: 4, topic: topic, device: device, at: .unixEpoch)
        #expect(try origins.find(event) == nil)
        #expect(origins.readCount == WriterLimits.traceRowsPerOriginCountMax)
    }

    @Test(arguments: [(UInt32(1), 3, 1), (2, 0, 0)])
    func `a webhook's search reads the first events of its own app's notifications only`(
        topic: UInt32, entryCount: Int, readCount: Int
    ) throws {
        let origins = TraceOrigins(table)
        let query = TraceQuery(.app(topic: "app"), after: end, countMax: 10, isForWebhook: true)
        let address = ReplyAddress(loop: 0, slot: 1, generation: 1, exchange: 1)
        let search = TraceSearch(query, topic: TopicID(rawValue: topic), answer: address)
        #expect(try !search.step(byteCountMax: 1 << 20, table, origins))
        #expect(search.findings.entries.count == entryCount && origins.readCount == readCount)
    }
}
