// SPDX-License-Identifier: Apache-2.0

import PushNet
import PushStore
import TestSupport
import Testing

@testable import PushCluster

/// The bounds on notifications that wait in PostgreSQL.
@Suite(.needsPostgres) struct BoundTests {
    @Test func `a device that never connected keeps the newest of a topic, and a few more`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres, pendingPerTopicCountMax: 10)
        let device = try node.registeredDevice()
        for number in 1...64 { #expect(try node.send("\(number)", to: device.contents) == nil) }
        try await eventually("the oldest are dropped") {
            try await postgres.sql("SELECT count(*) FROM pending") == "10"
        }
        try await eventually("they are counted") { node.store.metrics.cluster?.trimmed.value == 54 }
        let stream = try node.attach(device)
        #expect(try node.received(10, on: stream).map(\.text) == (55...64).map(String.init))
    }

    @Test func `a device that left a moment ago keeps more than the bound of a topic`() async throws {
        let postgres = try await PostgresFixture()
        let node = try TestNode(postgres, pendingPerTopicCountMax: 10)
        let device = try node.registeredDevice()
        node.store.submit([.detach(stream: try node.attach(device))])
        try await eventually("it has left") {
            try await postgres.sql("SELECT instance FROM hosts WHERE left_at_ms IS NOT NULL") == "0"
        }
        for number in 1...32 { #expect(try node.send("\(number)", to: device.contents) == nil) }
        // The worker that applies the bounds also performs the requests of this device, after that.
        try node.succeed(.device(.identify, by: device.credential))
        #expect(try await postgres.sql("SELECT count(*) FROM pending") == "32")
        _ = try await postgres.sql("UPDATE hosts SET left_at_ms = left_at_ms - 60000")
        for number in 33...64 { #expect(try node.send("\(number)", to: device.contents) == nil) }
        try await eventually("the oldest are dropped") {
            try await postgres.sql("SELECT count(*) FROM pending") == "10"
        }
    }
}
