// SPDX-License-Identifier: Apache-2.0

internal import PushSQL
internal import PushSQLite

/// Prepares a database that was restored from a backup for use.
package enum StoreRestore {
    /// The number of sequences that are skipped, so that none used since the backup is assigned again.
    ///
    /// This covers twelve days at a million notifications a second. A file can be restored four million times.
    static let sequenceGap: Int64 = 1 << 40

    /// Throws `locked` while a server uses the database, and ignores all other errors.
    package static func refuseIfInUse(path: String) throws(StoreError) {
        do {
            _ = try Connection(path: path, durability: .full, exclusive: true)
        } catch  where error.kind == .busy {
            throw StoreError(error, path: path)
        } catch {}
    }

    /// Migrates the schema and skips a range in each counter that assigns numbers.
    ///
    /// A device that was connected after the backup may acknowledge sequences that the restored file has not assigned
    /// yet. If they were assigned again, such an acknowledgement would remove notifications that the device never
    /// received. The numbers of apps and channels skip a range for the same reason. The time at which the server last
    /// ran is deleted, so devices have a day to reconnect.
    ///
    /// - Parameter path: The restored database. No server may use it.
    /// - Throws: The error that opening, migrating or writing the file caused.
    package static func prepare(path: String) throws(StoreError) {
        let connection: Connection
        do {
            connection = try Connection(path: path, durability: .full, exclusive: true)
        } catch {
            throw StoreError(error, path: path)
        }
        do {
            try Schema.migrations.apply(to: connection)
        } catch {
            throw StoreError(error, path: path)
        }
        do {
            let advance = try connection.prepare("UPDATE state SET value = value + ? WHERE name = 'last_sequence'")
            advance.bind(sequenceGap, at: 1)
            try connection.transaction { () throws(SQLError) in
                try advance.run()
                try connection.execute(
                    """
                    UPDATE sqlite_sequence SET seq = seq + 1024 WHERE name IN ('topics', 'channels');
                    DELETE FROM state WHERE name = 'running_at_ms';
                    """)
            }
            try connection.checkpoint(.truncate)
        } catch {
            throw StoreError(error, path: path)
        }
    }
}
