// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// A second database for devices, and a clock of PostgreSQL that a test sets, for a site whose faults are random.
///
/// Nodes use the real clock: with the library that sets a clock, a thread that waits for a condition never sleeps.
final class ClusterExtras: Sendable {
    /// Shard 1, without standbys.
    let shard: PostgresServer
    /// The disk of shard 1; nil without root, because only root can mount it.
    let disk: SmallDisk?
    /// The clock of the primary of shard 0 and of its standbys.
    let databaseClock: FakeClock

    /// Starts the server of shard 1.
    ///
    /// - Throws: `MissingProgram` without the package `postgresql-15`; `UnexpectedOutput` when it does not start.
    init() async throws {
        disk = geteuid() == 0 ? try SmallDisk(byteCount: 192 << 20, isOpen: true) : nil
        shard = try await PostgresServer(
            configuration: ["max_wal_size = 32MB", "wal_keep_size = 0"],
            data: disk.map { "\($0.directory.path)/data" })
        databaseClock = try FakeClock()
    }

    /// Runs SQL on shard 1 in the schema of the tables, and returns its output.
    func sql(_ text: String) async throws -> String { try await shard.sql("SET search_path = posthorn; \(text)") }
}
