// SPDX-License-Identifier: Apache-2.0

internal import PushNet
internal import PushPostgres
internal import PushStore

extension Maintenance {
    /// The files of a database of SQLite that is being written.
    private static let unfinished = BackupFiles.database + "-unfinished"

    /// Copies a store between SQLite and PostgreSQL; the source stays as it is.
    ///
    /// - Parameters:
    ///   - configuration: The configuration with the data directory.
    ///   - source: The store; nil for the database in the data directory.
    ///   - target: The place of the copy, in the other engine.
    /// - Returns: The text to print.
    /// - Throws: `move` or `installation` with the problem. The target then has no part of the store.
    package static func migrate(
        _ configuration: ServerConfiguration, from source: StoreAddress?, to target: StoreAddress
    ) throws(ServerError) -> String {
        switch (source ?? .sqlite(directory: configuration.dataDirectory), target) {
        case (.sqlite(let directory), .postgres(let address)): try migrate(from: directory, to: address)
        case (.postgres(let address), .sqlite(let directory)): try migrate(from: address, to: directory)
        case (.sqlite, .sqlite), (.postgres, .postgres):
            preconditionFailure("the command line refuses addresses of the same kind")
        }
    }

    private static func migrate(from directory: String, to address: PostgresAddress) throws(ServerError) -> String {
        let path = "\(directory)/\(BackupFiles.database)"
        guard PrivateFile.exists(path) else {
            throw .installation(
                InstallationError(
                    path: path, problem: "The database does not exist.",
                    remedy: "Specify its directory with --data-directory, or with --from sqlite:DIRECTORY."))
        }
        guard !PrivateFile.exists(Installation.restoringDirectory(in: directory)) else {
            throw .installation(
                InstallationError(
                    path: directory, problem: "A backup is being restored, or its restore was interrupted.",
                    remedy: "Restore the backup again: posthornd --restore DIRECTORY"))
        }
        let report = try moving { () throws(StoreMoveError) in
            try StoreMove(address).copyToPostgres(from: path)
        }
        return text(of: report, path, "\(address)")
            + "\nKeep the old database until everything works, but start no server on it."
    }

    private static func migrate(from address: PostgresAddress, to directory: String) throws(ServerError) -> String {
        let path = "\(directory)/\(BackupFiles.database)"
        let unfinished = "\(directory)/\(unfinished)"
        guard !PrivateFile.exists(path) else {
            throw .installation(
                InstallationError(
                    path: path, problem: "The directory already has a database.",
                    remedy: "Specify another directory, or move the database aside."))
        }
        let move = try moving { () throws(StoreMoveError) in try StoreMove(address) }
        func clean() { for ending in ["", "-wal", "-shm", "-journal"] { PrivateFile.remove(unfinished + ending) } }
        let report: StoreMove.Report
        do throws(ServerError) {
            try migrating(directory) { () throws(NetError) in try PrivateFile.makeDirectory(directory) }
            clean()
            report = try moving { () throws(StoreMoveError) in try move.copyToSQLite(at: unfinished) }
            try migrating(path) { () throws(NetError) in
                try PrivateFile.synchronize(unfinished)
                try PrivateFile.giveToOwnerOfDirectory(unfinished)
                try PrivateFile.move(unfinished, to: path)
            }
        } catch {
            clean()
            throw error
        }
        let text = text(of: report, "\(address)", path)
        guard !PrivateFile.exists("\(directory)/token.keys") else { return text }
        return text + "\nBefore you start a server there, copy these files of the old server to \(directory), if it "
            + "has them: \(BackupFiles.small.joined(separator: ", "))."
    }

    private static func text(of report: StoreMove.Report, _ source: String, _ target: String) -> String {
        let rowCount = report.tables.reduce(0) { $0 + $1.rowCount }
        var text =
            "Copied \(source) to \(target): \(report.tables.count) tables with \(rowCount) rows, "
            + "\(report.rowCount("pending")) of them pending notifications. "
            + "The numbers of rows and the checksums of all tables are the same."
        if report.damagedCount > 0 {
            text += "\nLeft out \(report.damagedCount) pending notifications whose checksum was wrong."
        }
        return text
    }

    private static func moving<Value>(
        _ body: () throws(StoreMoveError) -> Value
    ) throws(ServerError) -> Value {
        do throws(StoreMoveError) { return try body() } catch { throw .move(error) }
    }

    private static func migrating<Value>(
        _ path: String, _ body: () throws(NetError) -> Value
    ) throws(ServerError) -> Value {
        do throws(NetError) { return try body() } catch {
            throw .installation(InstallationError(preparing: path, error))
        }
    }
}
