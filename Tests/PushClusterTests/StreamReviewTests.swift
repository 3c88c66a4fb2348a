// SPDX-License-Identifier: Apache-2.0

import PushNet
import PushStore
import TestSupport
import Testing

@testable import PushCluster

/// The comparison of streams with PostgreSQL, which finds what faults left behind.
@Suite(.needsPostgres) struct StreamReviewTests {
    @Test func `a row that no writer has announced is found`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres, reviewMilliseconds: 600)
        let device = try node.registeredDevice()
        #expect(try node.send("left behind", to: device.contents) == nil)
        _ = try await postgres.sql("CREATE TABLE later AS SELECT * FROM pending; DELETE FROM pending")
        let stream = try node.attach(device)
        let answer = node.submit("told", to: device.contents)
        let first = try node.received(1, on: stream)
        #expect(first.map(\.text) == ["told"])
        node.acknowledge(first, by: device)
        #expect(try node.answer(to: answer) == nil)
        _ = try await postgres.sql("INSERT INTO pending SELECT * FROM later")
        #expect(try node.received(1, on: stream).map(\.text) == ["left behind"])
        try await eventually("the count is published") { node.store.metrics.cluster?.foundByReview.value == 1 }
    }

    @Test func `a stream that a later one has replaced is closed`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres, reviewMilliseconds: 600)
        let device = try node.registeredDevice()
        let stream = try node.attach(device)
        #expect(try node.send("written", to: device.contents) == nil)
        #expect(try node.received(1, on: stream).map(\.text) == ["written"])
        _ = try await postgres.sql("UPDATE hosts SET instance = 1, epoch = epoch + 1000000000000")
        try node.replies.first("replaced") { if case .ended(.replaced, stream) = $0 { () } else { nil } }
    }
}
