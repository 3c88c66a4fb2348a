// SPDX-License-Identifier: Apache-2.0

import Foundation
import LoopTestSupport
import PushNet
import PushSQL
import TestSupport
import Testing

@testable import PushPostgres

/// Kills, stops and replaces servers.
@Suite(.tags(.slow), .needsPostgres) struct PostgresFaultTests {
    @Test func `a server that is killed in the middle of a pipeline loses nothing that was committed`() async throws {
        let server = try await PostgresServer()
        let settings = PostgresSettings.test(schema: "public")
        try PostgresConnection(to: PostgresAddress(server.address), settings: settings).execute(PipelineHarness.tables)
        let harness = try PipelineHarness(address: server.address, settings: settings)
        try await harness.waitForConnection()
        // Two batches are always under way.
        var next: Int64 = 0
        func insertBatch() {
            harness.insert((next * 100)..<(next * 100 + 100), byteCount: 500)
            harness.sync()
            next += 1
        }
        harness.reaction = { event in
            if event == .synced(nil) { insertBatch() }
        }
        insertBatch()
        insertBatch()
        try await harness.wait(for: .synced(nil), count: 20)
        try await server.kill()
        try await harness.loop.run("the loss is reported") { harness.events.contains(.lost(.disconnected)) }
        #expect(harness.pipeline?.unansweredCount == 0)
        try await harness.loop.run("attempts to connect fail") { harness.events.contains(.unreachable(.cannotOpen)) }
        let committedCount = harness.events.count { $0 == .synced(nil) }
        harness.reaction = { _ in }
        try await server.start()
        try await harness.wait(for: .connected, count: 2)
        #expect(harness.events.count { $0 == .lost(.disconnected) } == 1)
        let rowCount = try #require(Int(try await server.sql("SELECT count(*) FROM rows")))
        #expect(rowCount >= committedCount * 100)
        #expect(rowCount <= Int(next) * 100 && rowCount % 100 == 0, "a batch is there wholly or not at all")
        harness.insert([-1])
        harness.sync()
        try await harness.wait(for: .synced(nil), count: committedCount + 1)
    }

    @Test func `a commit of unknown outcome is reported as lost`() async throws {
        let server = try await PostgresServer(configuration: ["synchronous_standby_names = 'ANY 1 (s1)'"])
        var settings = PostgresSettings.test(schema: "public")
        let observer = try PostgresConnection(to: PostgresAddress(server.address), settings: settings)
        try observer.execute("SET synchronous_commit = local; CREATE TABLE t(x bigint)")
        // Without the standby, the commit waits, although the statement timeout passes.
        settings.statementTimeout = .milliseconds(50)
        settings.answerTimeout = .milliseconds(500)
        let connection = try PostgresConnection(to: PostgresAddress(server.address), settings: settings)
        let error = #expect(throws: SQLError.self) {
            try connection.transaction { () throws(SQLError) in try connection.execute("INSERT INTO t VALUES (1)") }
        }
        #expect(error?.kind == .disconnected)
        #expect(error?.subject == "COMMIT")
        #expect(!connection.isUsable)
        #expect(try observer.number("SELECT count(*) FROM t") == 0, "the row is not visible before the standby has it")
    }

    @Test func `a commit whose wait for a standby is canceled does not count as committed`() async throws {
        let server = try await PostgresServer(configuration: ["synchronous_standby_names = 'ANY 1 (s1)'"])
        let settings = PostgresSettings.test(schema: "public")
        let observer = try PostgresConnection(to: PostgresAddress(server.address), settings: settings)
        try observer.execute("SET synchronous_commit = local")
        try observer.execute(PipelineHarness.tables)
        let canceler = Task.detached { try await cancelWaitingCommit(server) }
        let connection = try PostgresConnection(to: PostgresAddress(server.address), settings: settings)
        let error = #expect(throws: SQLError.self) {
            try connection.transaction { () throws(SQLError) in
                try connection.execute("INSERT INTO rows VALUES (1, 1, '')")
            }
        }
        #expect(error?.kind == .disconnected)
        #expect(error?.code == "40003")
        try await canceler.value

        let harness = try PipelineHarness(address: server.address, settings: settings)
        try await harness.waitForConnection()
        harness.insert([2])
        harness.sync()
        let second = Task.detached { try await cancelWaitingCommit(server) }
        try await harness.waitForAnswers()
        try await second.value
        #expect(harness.events.dropFirst() == [.received(.insert, [], changed: 1), .synced(.disconnected)])
        #expect(try observer.number("SELECT count(*) FROM rows") == 2)
    }

    @Test func `a frozen server is lost after the answer timeout, and connecting to it fails`() async throws {
        let server = try await PostgresServer()
        var settings = PostgresSettings.test(schema: "public")
        settings.answerTimeout = .milliseconds(200)
        let connection = try PostgresConnection(to: PostgresAddress(server.address), settings: settings)
        try server.send(SIGSTOP)
        let error = #expect(throws: SQLError.self) { try connection.execute("SELECT 1") }
        #expect(error?.kind == .disconnected)
        let second = #expect(throws: SQLError.self) {
            try PostgresConnection(to: PostgresAddress(server.address), settings: settings)
        }
        #expect(second?.kind == .cannotOpen)
        try server.send(SIGCONT)
        let third = try PostgresConnection(to: PostgresAddress(server.address), settings: settings)
        #expect(try third.number("SELECT 1") == 1)
    }

    @Test func `TLS protects connections and pipelines, and a wrong authority is refused`() async throws {
        let server = try await PostgresServer(usesTLS: true)
        let settings = PostgresSettings.test(schema: "public")
        let connection = try PostgresConnection(to: PostgresAddress(server.address), settings: settings)
        let facts = try connection.serverFacts()
        #expect(facts.usesTLS && facts.isLocal)
        try connection.execute(PipelineHarness.tables)
        let harness = try PipelineHarness(address: server.address, settings: settings)
        try await harness.waitForConnection()
        harness.insert(0..<2_000, byteCount: 4_000)
        harness.sync()
        // Results of many sizes end everywhere in the buffers of libpq and OpenSSL. Each is waited for alone.
        for count in stride(from: Int64(1), to: 400, by: 7) {
            harness.read(0..<count)
            harness.sync()
            try await harness.waitForAnswers()
        }
        #expect(harness.events.count { $0 == .synced(nil) } == 58)

        let files = try TemporaryDirectory()
        let strange = try files.write(try String(contentsOfFile: strangeAuthority, encoding: .utf8), to: "root.crt")
        let address = server.address.replacing(/sslrootcert=.*/, with: "sslrootcert=\(strange)")
        let error = #expect(throws: SQLError.self) {
            try PostgresConnection(to: PostgresAddress(address), settings: settings)
        }
        #expect(error?.kind == .cannotOpen)
        #expect(error?.message.contains("certificate verify failed") == true)
    }
}

/// An authority that did not issue the certificate of the tests' server, from the package `ca-certificates`.
private let strangeAuthority = "/etc/ssl/certs/ca-certificates.crt"

/// Waits until a commit waits for a standby, and cancels the wait.
private func cancelWaitingCommit(_ server: PostgresServer) async throws {
    try await eventually("a commit waits for a standby") {
        let sql = "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        return try await server.sql(sql) != "0"
    }
}
