// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import PushAPI
internal import PushCore
internal import PushNet
internal import PushStore

/// Creates backups while the server runs, one at a time.
///
/// ```
/// begin ──▶ copying (the store's thread, between transactions) ──▶ checking (a thread of its own) ──▶ done
///              └──────────────────────────────┴──▶ failed, its files are removed
/// ```
/// A backup gets its name only when it is complete, checked and on the disk. Until then, its name is `….partial`.
final class BackupKeeper: Sendable {
    /// The reason why a backup cannot start.
    enum Refusal: Error {
        case alreadyRunning
        case badPath
        /// The parent directory does not exist.
        case noParent(String)
        /// The path exists already.
        case exists(String)
        /// The path exists and is not a backup, so it is not replaced.
        case isNoBackup(String)
        case cannotMake(InstallationError)
    }

    private struct State {
        var last: AdminAPI.Backup?
        var thread: Thread?
    }

    private let installation: Installation
    private let log: EventLog
    private let state = Lock(State())

    init(_ installation: Installation, log: EventLog) {
        self.installation = installation
        self.log = log
    }

    /// The last backup that was started.
    var last: AdminAPI.Backup? { state.withLock { $0.last } }

    /// Creates the directory and the command for the store.
    ///
    /// - Parameters:
    ///   - path: The absolute path of the directory; nil for a directory named after the current time.
    ///   - replaces: Whether an earlier backup may be replaced.
    /// - Returns: The backup to request from the store.
    /// - Throws: The reason why the backup cannot start.
    func begin(_ path: String?, replaces: Bool) throws(Refusal) -> StoreBackup {
        let now = Timestamp.now.roundedDownToSeconds
        let isNamed = path != nil
        let path = try Self.normalized(path ?? "\(installation.directory)/backups/\(Self.name(at: now))")
        // A typo in a path must not put the backup in an unexpected place.
        let parent = PrivateFile.directory(of: path)
        guard !isNamed || PrivateFile.exists(parent) else { throw .noParent(parent) }
        if PrivateFile.exists(path) {
            guard replaces else { throw .exists(path) }
            guard isBackup(path) else { throw .isNoBackup(path) }
        }
        for leftover in [Self.partial(path), Self.replaced(path)] where PrivateFile.exists(leftover) {
            guard BackupFiles.fill(leftover) else { throw .isNoBackup(leftover) }
        }
        let isFree = state.withLock { state in
            guard state.last?.isUnderWay != true else { return false }
            state.last = AdminAPI.Backup(path: path, startedAt: now)
            return true
        }
        guard isFree else { throw .alreadyRunning }
        let partial = Self.partial(path)
        PrivateFile.removeTree(partial)
        do throws(NetError) { try PrivateFile.makeDirectory(partial) } catch {
            let failure = InstallationError(creating: path, error)
            fail(failure.problem)
            throw .cannotMake(failure)
        }
        return StoreBackup(
            path: "\(partial)/\(BackupFiles.database)", onProgress: { self.note($0) },
            onEnd: { error in
                let thread = Thread(name: "backup") { self.finish(path, partial, error) }
                self.state.withLock { $0.thread = thread }
            })
    }

    /// Returns whether a directory is a complete backup with no other files, and not the server's own data.
    private func isBackup(_ path: String) -> Bool {
        guard !PrivateFile.isSame(path, installation.directory), BackupFiles.fill(path) else { return false }
        return (try? BackupFiles.readSums(in: path)) != nil
    }

    /// Waits for a backup that the end of the store stopped, so that its files are removed.
    ///
    /// A backup that is being checked is not waited for, because that may take minutes. It keeps the name `….partial`.
    func end() {
        let (thread, isChecking) = state.withLock { state in
            defer { state.thread = nil }
            return (state.thread, state.last?.state == .checking)
        }
        if !isChecking { thread?.join() }
    }

    private func note(_ progress: StoreBackup.Progress) {
        let pageByteCount: Int64 = 4096
        state.withLock { state in
            state.last?.byteCount = Int64(progress.pageCount) * pageByteCount
            state.last?.copiedByteCount = Int64(progress.pageCount - progress.remainingPageCount) * pageByteCount
        }
    }

    private func fail(_ problem: String) {
        state.withLock { state in
            state.last?.state = .failed
            state.last?.problem = problem
            state.last?.endedAt = .now.roundedDownToSeconds
        }
        log.error("backup_failed", ["problem": problem])
    }

    // MARK: On a thread of its own

    private func finish(_ path: String, _ partial: String, _ error: StoreError?) {
        do throws(InstallationError) {
            if let error { throw InstallationError(path: path, problem: "\(error.description)", remedy: "") }
            state.withLock { $0.last?.state = .checking }
            try complete(partial)
            try Self.putInPlace(partial, path)
            state.withLock { state in
                state.last?.state = .done
                state.last?.endedAt = .now.roundedDownToSeconds
            }
            log.info("backup_done", ["path": path])
        } catch {
            PrivateFile.removeTree(partial)
            fail(error.problem + (error.remedy.isEmpty ? "" : " \(error.remedy)"))
        }
    }

    /// Checks the copied database and adds the other files.
    private func complete(_ partial: String) throws(InstallationError) {
        let database = "\(partial)/\(BackupFiles.database)"
        let check: StoreCheck
        do throws(StoreError) { check = try StoreCheck(path: database) } catch {
            throw InstallationError(path: database, problem: error.description, remedy: "")
        }
        guard check.problems.isEmpty else {
            throw InstallationError(
                path: database,
                problem: "The copy of the database is damaged: \(check.problems.joined(separator: "; ")).",
                remedy: "Check the disk, stop the server, and restore the last good backup.")
        }
        do throws(NetError) {
            try PrivateFile.synchronize(database)
            for name in BackupFiles.small {
                let source = "\(installation.directory)/\(name)"
                guard PrivateFile.exists(source) else { continue }
                try PrivateFile.copy(source, to: "\(partial)/\(name)", mode: BackupFiles.mode(of: name))
            }
            try BackupFiles.writeSums(in: partial)
        } catch {
            throw InstallationError(preparing: partial, error)
        }
    }

    /// Gives the backup its name, then removes an earlier backup of that name.
    private static func putInPlace(_ partial: String, _ path: String) throws(InstallationError) {
        let replaced = Self.replaced(path)
        do throws(NetError) {
            if PrivateFile.exists(path) {
                PrivateFile.removeTree(replaced)
                try PrivateFile.move(path, to: replaced)
            }
            try PrivateFile.move(partial, to: path)
        } catch {
            throw InstallationError(preparing: path, error)
        }
        PrivateFile.removeTree(replaced)
    }

    // MARK: Names

    /// The name of a backup that is not complete.
    private static func partial(_ path: String) -> String { "\(path).partial" }

    /// The name of an earlier backup while the new one gets its name.
    private static func replaced(_ path: String) -> String { "\(path).replaced" }

    /// Returns a name with the time, for example `20261122T055817Z`.
    static func name(at time: Timestamp) -> String {
        let style = Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted)
        return Date(timeIntervalSince1970: Double(time.unixSeconds)).formatted(style)
    }

    private static func normalized(_ path: String) throws(Refusal) -> String {
        var bytes = Array(path.utf8)
        while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        guard bytes.first == UInt8(ascii: "/"), bytes.count > 1, bytes.allSatisfy({ $0 >= 0x20 }) else {
            throw .badPath
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
