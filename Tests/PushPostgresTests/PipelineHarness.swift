// SPDX-License-Identifier: Apache-2.0

import LoopTestSupport
import PushNet
import PushSQL
import TestSupport

@testable import PushPostgres

/// A pipeline with some statements on a loop of its own, and everything that it reported.
final class PipelineHarness {
    /// The statements of the tests; the raw value is the index.
    enum Text: Int, CaseIterable {
        case insert
        case read
        case divide
        case sleep
        case defer_
        case blob

        var statement: PipelineStatement {
            switch self {
            case .insert:
                PipelineStatement(
                    """
                    INSERT INTO rows(id, number, record)
                    SELECT * FROM unnest($1, $2, $3) AS u(id, number, record)
                    """, [.int64Array, .int64Array, .bytesArray])
            case .read:
                PipelineStatement("SELECT id, number, record FROM rows WHERE id = ANY($1) ORDER BY id", [.int64Array])
            case .divide: PipelineStatement("SELECT 100 / $1", [.int64])
            case .sleep: PipelineStatement("SELECT count(*) FROM pg_sleep($1)", [.int64])
            case .defer_: PipelineStatement("INSERT INTO children(parent) VALUES ($1)", [.int64])
            case .blob: PipelineStatement("SELECT $1, $2, $3, repeat('x', $1::integer)", [.int64, .text, .bytes])
            }
        }
    }

    /// Something that the pipeline reported.
    enum Event: Equatable {
        case connected
        case received(Text, [[Int64?]], changed: Int?)
        case failed(Text, state: String?)
        case synced(SQLError.Kind?)
        case lost(SQLError.Kind)
        case unreachable(SQLError.Kind)
    }

    static let tables: StaticString = """
        CREATE TABLE rows(id bigint PRIMARY KEY, number bigint, record bytea NOT NULL);
        CREATE TABLE parents(id bigint PRIMARY KEY);
        CREATE TABLE children(parent bigint REFERENCES parents DEFERRABLE INITIALLY DEFERRED)
        """

    let loop: EventLoop
    private(set) var pipeline: PostgresPipeline?
    var events: [Event] = []
    /// The bytes of the last column of each row that was read.
    var records: [[UInt8]?] = []
    /// Called with each event, after it was recorded.
    var reaction: (Event) -> Void = { _ in }

    init(address: String, settings: PostgresSettings) throws {
        loop = try EventLoop()
        let handlers = PostgresPipeline.Handlers(
            connected: { [unowned self] in note(.connected) },
            received: { [unowned self] statement, result in receive(statement, result) },
            synced: { [unowned self] in note(.synced($0?.kind)) },
            lost: { [unowned self] in note(.lost($0.kind)) },
            unreachable: { [unowned self] in note(.unreachable($0.kind)) })
        pipeline = try PostgresPipeline(
            on: loop, to: PostgresAddress(address), settings: settings, statements: Text.allCases.map(\.statement),
            handlers: handlers)
        pipeline?.start()
    }

    deinit { pipeline?.stop() }

    private func note(_ event: Event) {
        events.append(event)
        reaction(event)
    }

    private func receive(_ statement: Int, _ result: borrowing PostgresResult) {
        guard let text = Text(rawValue: statement) else { preconditionFailure("there is no such statement") }
        guard result.isSuccess else { return note(.failed(text, state: result.sqlState)) }
        var rows: [[Int64?]] = []
        for row in 0..<result.rowCount {
            switch text {
            case .read:
                rows.append([result.int64(row, 0), result.optionalInt64(row, 1)])
                records.append(result.withBytes(row, 2) { record in record.indices.map { record[$0] } })
            case .blob:
                rows.append([result.optionalInt64(row, 0)])
                records.append(result.optionalBytes(row, 2))
                records.append(result.optionalBytes(row, 3))
            case .insert, .divide, .sleep, .defer_: rows.append([result.optionalInt64(row, 0)])
            }
        }
        note(.received(text, rows, changed: result.changedRowCount))
    }

    // MARK: Sending

    /// Sends rows with these IDs, whose numbers are NULL for odd IDs.
    func insert(_ ids: some Sequence<Int64>, byteCount: Int = 3) {
        let parameters = PostgresParameters(Text.insert.statement.parameters)
        for id in ids {
            parameters.append(id, to: 0)
            parameters.append(id % 2 == 0 ? id * 10 : nil, to: 1)
            parameters.append(Self.record(id, byteCount: byteCount).span, to: 2)
        }
        send(.insert, parameters)
    }

    static func record(_ id: Int64, byteCount: Int) -> [UInt8] {
        (0..<byteCount).map { UInt8(truncatingIfNeeded: Int64($0) &+ id) }
    }

    func read(_ ids: some Sequence<Int64>) {
        let parameters = PostgresParameters([.int64Array])
        for id in ids { parameters.append(id, to: 0) }
        send(.read, parameters)
    }

    /// Sends a statement whose only parameter is a number.
    func send(_ text: Text, _ number: Int64?) {
        let parameters = PostgresParameters([.int64])
        parameters.set(number, at: 0)
        send(text, parameters)
    }

    @discardableResult
    func send(_ text: Text, _ parameters: PostgresParameters) -> Bool {
        pipeline?.send(text.rawValue, parameters) ?? false
    }

    @discardableResult
    func sync() -> Bool { pipeline?.sync() ?? false }

    // MARK: Waiting

    func waitForConnection() async throws { try await wait(for: .connected, count: 1) }

    /// Runs the loop until an event was reported this many times.
    func wait(for event: Event, count: Int) async throws {
        try await loop.run("\(count) times \(event), but \(events.suffix(20))") {
            events.count { $0 == event } >= count
        }
    }

    /// Runs the loop until everything was answered.
    func waitForAnswers() async throws {
        try await loop.run("all answers") { pipeline?.unansweredCount == 0 }
    }
}
