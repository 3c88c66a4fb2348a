// SPDX-License-Identifier: Apache-2.0

internal import PushSQLite

/// Makes a database from a backup safe to go on with.
package enum StoreRestore {
    /// What the server may have given out since the backup was made, and must not give out again: sequences.
    ///
    /// At a million notifications a second, twelve days of them; a file may be restored four million times.
    static let sequenceGap: Int64 = 1 << 40

    /// Throws `locked` while a server uses a database; any other defect is not of interest.
    package static func refuseIfInUse(path: String) throws(StoreError) {
        do {
            _ = try Connection(path: path, durability: .full, exclusive: true)
        } catch  where error.isBusy {
            throw StoreError(error, path: path)
        } catch {}
    }

    /// Brings the schema up to date and leaves a gap in every count by which something was named.
    ///
    /// A device that was connected after the backup acknowledges sequences that the restored file has not given out yet:
    /// given out again, they would acknowledge what the device never saw. Numbers of apps and channels get gaps for the
    /// same reason. When the server last ran is forgotten, so that devices have a day to come back.
    /// - Parameter path: The restored database; no server uses it.
    /// - Throws: What is wrong with the file.
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
            try connection.transaction { () throws(SQLiteError) in
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
