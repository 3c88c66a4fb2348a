// SPDX-License-Identifier: Apache-2.0

import LoopTestSupport
import PushNet
import PushSQL
import TestSupport
import Testing

@testable import PushPostgres

@Suite(.needsPostgres) struct PostgresPipelineTests {
    private let fixture: PostgresFixture
    private let observer: PostgresConnection
    private let harness: PipelineHarness

    init() async throws {
        fixture = try await PostgresFixture()
        observer = try fixture.connect()
        try observer.execute(PipelineHarness.tables)
        harness = try PipelineHarness(address: fixture.address, settings: .test(schema: fixture.schema))
        try await harness.waitForConnection()
    }

    @Test func `results arrive in the order of the statements, and a batch ends with its commit`() async throws {
        harness.insert(1...4)
        harness.sync()
        harness.read([1, 2, 5])
        harness.send(.divide, 20)
        harness.sync()
        try await harness.waitForAnswers()
        #expect(
            harness.events == [
                .connected, .received(.insert, [], changed: 4), .synced(nil),
                .received(.read, [[1, nil], [2, 20]], changed: nil), .received(.divide, [[5]], changed: nil),
                .synced(nil),
            ])
        #expect(harness.records == [[1, 2, 3], [2, 3, 4]])
    }

    @Test func `arrays without elements are empty, not NULL`() async throws {
        harness.insert([])
        harness.read([])
        harness.sync()
        try await harness.waitForAnswers()
        #expect(
            harness.events.dropFirst() == [
                .received(.insert, [], changed: 0), .received(.read, [], changed: nil), .synced(nil),
            ])
    }

    @Test func `parameters that are not arrays can be NULL, empty or long`() async throws {
        let parameters = PostgresParameters(PipelineHarness.Text.blob.statement.parameters)
        parameters.set(Int64(3), at: 0)
        parameters.set("ä", at: 1)
        parameters.set([], at: 2)
        harness.send(.blob, parameters)
        parameters.removeAll()
        harness.send(.blob, parameters)
        parameters.set(Int64(2), at: 0)
        parameters.set([UInt8](repeating: 7, count: 3_000_000), at: 2)
        harness.send(.blob, parameters)
        harness.sync()
        try await harness.waitForAnswers()
        #expect(harness.events.contains(.received(.blob, [[3]], changed: nil)))
        #expect(harness.events.contains(.received(.blob, [[nil]], changed: nil)))
        let x = UInt8(ascii: "x")
        #expect(harness.records == [[], [x, x, x], nil, nil, [UInt8](repeating: 7, count: 3_000_000), [x, x]])
    }

    @Test func `reused parameters do not contain earlier values`() async throws {
        let parameters = PostgresParameters(PipelineHarness.Text.insert.statement.parameters)
        for round in Int64(0)..<3 {
            parameters.removeAll()
            for id in (round * 10)..<(round * 10 + 3 - round) {
                parameters.append(id, to: 0)
                parameters.append(round == 0 ? nil : id, to: 1)
                parameters.append([UInt8(round)].span, to: 2)
            }
            #expect(parameters.elementCount(of: 0) == 3 - Int(round))
            harness.send(.insert, parameters)
            harness.sync()
        }
        try await harness.waitForAnswers()
        #expect(try observer.number("SELECT count(*) FROM rows") == 6)
        #expect(try observer.number("SELECT count(*) FROM rows WHERE number IS NULL") == 3)
        #expect(
            try observer.number("SELECT count(*) FROM rows WHERE number = id AND get_byte(record, 0) = id / 10") == 3)
    }

    @Test func `an error rolls back its batch only`() async throws {
        harness.insert([1])
        harness.sync()
        harness.insert([2])
        harness.send(.divide, 0)
        harness.insert([3])
        harness.sync()
        harness.insert([4])
        harness.sync()
        try await harness.waitForAnswers()
        #expect(
            harness.events.dropFirst() == [
                .received(.insert, [], changed: 1), .synced(nil),
                .received(.insert, [], changed: 1), .failed(.divide, state: "22012"), .failed(.insert, state: nil),
                .synced(.refused),
                .received(.insert, [], changed: 1), .synced(nil),
            ])
        #expect(try observer.number("SELECT sum(id)::bigint FROM rows") == 5)
    }

    @Test func `an error of the commit fails the batch, whose statements succeeded`() async throws {
        harness.send(.defer_, 7)
        harness.sync()
        harness.send(.divide, 10)
        harness.sync()
        try await harness.waitForAnswers()
        #expect(
            harness.events.dropFirst() == [
                .received(.defer_, [], changed: 1), .synced(.constraint), .received(.divide, [[10]], changed: nil),
                .synced(nil),
            ])
        #expect(try observer.number("SELECT count(*) FROM children") == 0)
    }

    @Test func `a batch that takes too long is ended by the server`() async throws {
        let hasty = try PipelineHarness(
            address: fixture.address,
            settings: {
                var settings = PostgresSettings.test(schema: fixture.schema)
                settings.statementTimeout = .milliseconds(50)
                return settings
            }())
        try await hasty.waitForConnection()
        hasty.send(.sleep, 60)
        hasty.sync()
        try await hasty.waitForAnswers()
        #expect(hasty.events.dropFirst() == [.failed(.sleep, state: "57014"), .synced(.refused)])
    }

    @Test func `handlers can send`() async throws {
        harness.reaction = { [unowned harness] event in
            guard case .received(.divide, let rows, _) = event, let value = rows[0][0], value > 1 else { return }
            harness.send(.divide, value)
            harness.sync()
        }
        harness.send(.divide, 5)
        harness.sync()
        try await harness.wait(for: .synced(nil), count: 2)
        #expect(harness.events.contains(.received(.divide, [[5]], changed: nil)))
    }

    @Test func `large batches are sent and read without blocking the loop`() async throws {
        var ticks = 0
        func tick() {
            ticks += 1
            harness.loop.schedule(after: .milliseconds(1)) { tick() }
        }
        tick()
        for batch in Int64(0)..<8 {
            harness.insert((batch * 1_000)..<(batch * 1_000 + 1_000), byteCount: 4_096)
            harness.sync()
        }
        #expect(ticks == 1, "sending does not wait")
        for batch in Int64(0)..<8 {
            harness.read((batch * 1_000)..<(batch * 1_000 + 1_000))
            harness.sync()
        }
        try await harness.waitForAnswers()
        #expect(harness.events.count { $0 == .received(.insert, [], changed: 1_000) } == 8)
        #expect(harness.events.count { $0 == .synced(nil) } == 16)
        #expect(harness.records.count == 8_000)
        let isUnchanged = harness.records.enumerated().allSatisfy { index, record in
            record == PipelineHarness.record(Int64(index), byteCount: 4_096)
        }
        #expect(isUnchanged)
        #expect(ticks > 2)
    }

    // MARK: Lost connections

    @Test func `a connection that the server ends is lost once, and the pipeline reconnects`() async throws {
        let first = try #require(harness.pipeline?.serverProcess)
        harness.insert([1])
        harness.sync()
        harness.send(.sleep, 60)
        harness.insert([2])
        harness.sync()
        try await harness.wait(for: .synced(nil), count: 1)
        let terminate = try observer.prepare("SELECT pg_terminate_backend(?::integer)")
        terminate.bind(Int64(first), at: 1)
        try terminate.run()
        try await harness.wait(for: .connected, count: 2)
        #expect(
            harness.events == [
                .connected, .received(.insert, [], changed: 1), .synced(nil), .lost(.disconnected), .connected,
            ])
        #expect(harness.pipeline?.unansweredCount == 0)
        #expect(harness.pipeline?.serverProcess != first)
        harness.insert([3])
        harness.sync()
        try await harness.waitForAnswers()
        #expect(try observer.number("SELECT sum(id)::bigint FROM rows") == 4)
    }

    @Test func `an idle connection that the server ends is lost once`() async throws {
        let terminate = try observer.prepare("SELECT pg_terminate_backend(?::integer)")
        terminate.bind(Int64(try #require(harness.pipeline?.serverProcess)), at: 1)
        try terminate.run()
        try await harness.wait(for: .connected, count: 2)
        #expect(harness.events == [.connected, .lost(.disconnected), .connected])
    }

    @Test func `a statement that cannot be prepared is reported, and tried again`() async throws {
        try observer.execute("ALTER TABLE rows RENAME TO other")
        let second = try PipelineHarness(address: fixture.address, settings: .test(schema: fixture.schema))
        try await second.wait(for: .unreachable(.refused), count: 2)
        try observer.execute("ALTER TABLE other RENAME TO rows")
        try await second.waitForConnection()
    }

    @Test func `a stopped pipeline reports nothing more`() async throws {
        harness.send(.divide, 1)
        harness.sync()
        harness.pipeline?.stop()
        #expect(harness.pipeline?.isConnected == false)
        #expect(!harness.send(.divide, PostgresParameters([.int64])))
        #expect(!harness.sync())
        let count = harness.events.count
        harness.pipeline?.start()
        harness.pipeline?.stop()
        for _ in 0..<20 { try await harness.loop.run("a turn") { true } }
        #expect(harness.events.count == count)
        harness.pipeline?.start()
        try await harness.wait(for: .connected, count: 2)
    }
}
