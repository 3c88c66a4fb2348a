// SPDX-License-Identifier: Apache-2.0

import PushPostgres
import TestSupport
import Testing

@testable import PushStore

/// The numbers of rows of a real PostgreSQL, counted and estimated.
@Suite(.needsPostgres) struct StoreSizesTests {
    private let fixture: PostgresFixture
    private let store: PostgresTestStore

    init() async throws {
        fixture = try await PostgresFixture()
        store = try PostgresTestStore(fixture)
    }

    @Test func `small tables are counted`() throws {
        try store.addApp()
        let token = try store.register(try store.enrol())
        _ = try store.enrol(2)
        try store.accept(.to(token, "waits"))
        let sizes = try StoreSizeReader(store.connection).read()
        #expect(sizes.appCount == 1 && sizes.deviceCount == 2 && sizes.registrationCount == 1)
        #expect(sizes.pendingCount == 1 && sizes.byteCount > 0)
    }

    @Test func `large tables are estimated from the last analysis and their present size`() async throws {
        _ = try await fixture.sql(
            """
            INSERT INTO devices(id, name, platform, enrolled_at_ms, removed_at_ms)
                SELECT n, 'd', 'linux', n, CASE WHEN n % 4 = 0 THEN 1 END FROM generate_series(1, 20000) AS n;
            INSERT INTO registrations(device, topic, generation, live, refused, registered_at_ms)
                SELECT n, 1, 1, n % 2, 0, 1 FROM generate_series(1, 20000) AS n;
            INSERT INTO pending SELECT n, n, n, 1, NULL, '' FROM generate_series(1, 20000) AS n;
            ANALYZE devices; ANALYZE registrations; ANALYZE pending
            """)
        let reader = try StoreSizeReader(store.connection, exactByteCountMax: 65_536)
        let sizes = try reader.read()
        #expect(abs(sizes.deviceCount - 15_000) < 1_500 && abs(sizes.registrationCount - 10_000) < 1_000)
        #expect(abs(sizes.pendingCount - 20_000) < 1_000)
        // No analysis follows, so these are not the rows that it has counted.
        _ = try await fixture.sql(
            "INSERT INTO pending SELECT n, n, n, 1, NULL, '' FROM generate_series(20001, 40000) AS n")
        #expect(try abs(reader.read().pendingCount - 40_000) < 2_000)
    }
}
