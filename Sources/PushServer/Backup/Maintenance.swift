// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// The tasks of `posthornd` on a data directory that no server uses: check it, or restore a backup to it.
package enum Maintenance {
    /// Checks the whole database.
    ///
    /// - Parameter configuration: The configuration with the data directory.
    /// - Returns: The text to print if the database is intact.
    /// - Throws: `damaged` with the problems; `store` if a server uses the database or it cannot be read.
    package static func check(_ configuration: ServerConfiguration) throws(ServerError) -> String {
        let path = "\(configuration.dataDirectory)/\(BackupFiles.database)"
        guard PrivateFile.exists(path) else {
            throw .installation(
                InstallationError(
                    path: path, problem: "The database does not exist.",
                    remedy: "Specify its directory with --data-directory."))
        }
        let check = try check(path)
        guard check.problems.isEmpty else {
            throw .damaged(
                InstallationError(
                    path: path, problem: check.problems.joined(separator: "\n\(path): "),
                    remedy: "Check the disk, then restore the last backup: posthornd --restore DIRECTORY"))
        }
        return "\(path) is intact: schema version \(check.schemaVersion), \(check.pendingCount) pending notifications."
    }

    /// Checks whether a backup can be restored, without changing anything: files, hashes, and the whole database.
    ///
    /// - Parameter backup: The directory that `posthorn backup` created.
    /// - Returns: The text to print if the backup is intact.
    /// - Throws: `damaged` with the problem.
    package static func check(backup: String) throws(ServerError) -> String {
        let check = try ServerError.damaging { () throws(InstallationError) in
            for (name, hash) in try BackupFiles.readSums(in: backup) {
                let path = "\(backup)/\(name)"
                guard try hashed(path) == hash else { throw BackupFiles.damaged(path) }
            }
            return try databaseCheck("\(backup)/\(BackupFiles.database)")
        }
        return
            "\(backup) is intact: schema version \(check.schemaVersion), \(check.pendingCount) pending notifications."
    }

    private static func hashed(_ path: String) throws(InstallationError) -> String {
        do throws(NetError) { return try BackupFiles.hash(path) } catch {
            throw InstallationError(
                path: path, problem: "Cannot read the file: \(error.description).",
                remedy: "Give this user read access, or restore another backup.")
        }
    }

    private static func databaseCheck(_ path: String) throws(InstallationError) -> StoreCheck {
        let check: StoreCheck
        do throws(StoreError) { check = try StoreCheck(path: path, isStill: true) } catch {
            throw InstallationError(path: path, problem: error.whatHappened + ".", remedy: error.remedy)
        }
        guard check.problems.isEmpty else { throw BackupFiles.damaged(path, check.problems[0]) }
        return check
    }

    /// Replaces the contents of the data directory by a backup, and keeps the former contents aside.
    ///
    /// Everything is copied, checked and synchronized in `restoring` before anything is moved. While that directory
    /// exists, no server starts on the data. An interrupted restore must therefore be repeated, and its partial result
    /// is never used.
    ///
    /// - Parameters:
    ///   - configuration: The configuration with the data directory.
    ///   - backup: The directory that `posthorn backup` created.
    /// - Returns: The text to print.
    /// - Throws: `damaged` if the backup is damaged; `store` if a server uses the data directory or a later version
    ///   created the backup; `installation` if a file cannot be created. Nothing has changed unless moving failed.
    package static func restore(
        _ configuration: ServerConfiguration, from backup: String
    ) throws(ServerError) -> String {
        let directory = configuration.dataDirectory
        let parent = PrivateFile.directory(of: directory)
        guard PrivateFile.exists(parent) else {
            throw .installation(
                InstallationError(
                    path: directory, problem: "The parent directory \(parent) does not exist.",
                    remedy: "Create it, or specify another directory with --data-directory."))
        }
        let restoring = Installation.restoringDirectory(in: directory)
        let names = try ServerError.damaging { () throws(InstallationError) in
            try BackupFiles.readSums(in: backup)
        }
        try making(restoring) { () throws(NetError) in
            PrivateFile.removeTree(restoring)
            try PrivateFile.makeDirectory(directory)
            try PrivateFile.makeDirectory(restoring)
        }
        do throws(ServerError) {
            try refuseIfInUse("\(directory)/\(BackupFiles.database)")
            try gather(names, from: backup, into: restoring)
        } catch {
            PrivateFile.removeTree(restoring)
            throw error
        }
        let aside = unusedName("\(directory)/before-restore-")
        try making(directory) { () throws(NetError) in
            try moveAside(directory, aside)
            for (name, _) in names.reversed() {
                try PrivateFile.move("\(restoring)/\(name)", to: "\(directory)/\(name)")
                try PrivateFile.giveToOwnerOfDirectory("\(directory)/\(name)")
            }
        }
        PrivateFile.removeTree(restoring)
        return "Restored \(backup) to \(directory). The former files are in \(aside)."
    }

    /// Returns an unused name with the current time, so that files set aside by an earlier restore stay.
    private static func unusedName(_ prefix: String) -> String {
        let name = prefix + BackupKeeper.name(at: .now)
        var (unused, number) = (name, 1)
        while PrivateFile.exists(unused) {
            number += 1
            unused = "\(name)-\(number)"
        }
        return unused
    }

    /// Copies the files, compares their hashes, and prepares the database for use.
    private static func gather(
        _ names: [(name: String, hash: String)], from backup: String, into restoring: String
    ) throws(ServerError) {
        for (name, hash) in names {
            let copy = "\(restoring)/\(name)"
            let found = try making(copy) { () throws(NetError) in
                try PrivateFile.copy("\(backup)/\(name)", to: copy, mode: BackupFiles.mode(of: name))
                return try BackupFiles.hash(copy)
            }
            guard found == hash else { throw .damaged(BackupFiles.damaged("\(backup)/\(name)")) }
        }
        let database = "\(restoring)/\(BackupFiles.database)"
        let problems = try check(database).problems
        guard problems.isEmpty else {
            throw .damaged(BackupFiles.damaged("\(backup)/\(BackupFiles.database)", problems[0]))
        }
        do throws(StoreError) { try StoreRestore.prepare(path: database) } catch { throw .store(error) }
        try making(database) { () throws(NetError) in try PrivateFile.synchronize(database) }
    }

    private static func moveAside(_ directory: String, _ aside: String) throws(NetError) {
        try PrivateFile.makeDirectory(aside)
        try PrivateFile.giveToOwnerOfDirectory(aside)
        let database = BackupFiles.database
        // The file only reserves space for a full disk, and the next start creates it again.
        PrivateFile.remove("\(directory)/\(database)-reserve")
        let names = [database, "\(database)-wal", "\(database)-shm", "server.pem", "server.key", "server.names"]
        for name in names + BackupFiles.small where PrivateFile.exists("\(directory)/\(name)") {
            try PrivateFile.move("\(directory)/\(name)", to: "\(aside)/\(name)")
        }
    }

    private static func check(_ path: String) throws(ServerError) -> StoreCheck {
        do throws(StoreError) { return try StoreCheck(path: path) } catch {
            if case .damaged = error {
                throw .damaged(InstallationError(path: path, problem: error.description, remedy: ""))
            }
            throw .store(error)
        }
    }

    /// Refuses a database that a server uses; a damaged database counts as unused.
    private static func refuseIfInUse(_ path: String) throws(ServerError) {
        guard PrivateFile.exists(path) else { return }
        do throws(StoreError) { try StoreRestore.refuseIfInUse(path: path) } catch { throw .store(error) }
    }

    private static func making<Value>(
        _ path: String, _ body: () throws(NetError) -> Value
    ) throws(ServerError) -> Value {
        do throws(NetError) { return try body() } catch {
            throw .installation(InstallationError(preparing: path, error))
        }
    }
}
