// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A file of nothing beside the database, given up when the disk is full, so that deletions can still be committed.
///
/// Deleting needs space too: the write-ahead log grows first, and copying it makes the database grow. While the reserve
/// is gone, only what shrinks is done; else new notifications would eat the space that was freed.
struct DiskReserve {
    private let databasePath: String
    private let path: String
    /// What is held where there is room enough.
    private let wholeByteCount: Int
    /// What is held, or was held last.
    private var byteCount: Int
    /// Whether the file is there, with all its blocks.
    private(set) var isHeld = false

    /// Takes the reserve beside a database, if the disk has that much: a sixteenth of the disk, within bounds.
    init(beside databasePath: String) {
        self.databasePath = databasePath
        path = "\(databasePath)-reserve"
        var disk = statvfs()
        let isKnown = unsafe statvfs(databasePath, &disk) == 0
        let (diskByteCount, overflow) = UInt64(disk.f_blocks).multipliedReportingOverflow(by: UInt64(disk.f_frsize))
        let share = isKnown && !overflow ? Int(clamping: diskByteCount / 16) : WriterLimits.reserveByteCountMax
        wholeByteCount = min(max(share, WriterLimits.reserveByteCountMin), WriterLimits.reserveByteCountMax)
        byteCount = wholeByteCount
        restore(unusedByteCount: 0)
    }

    /// How long the write-ahead log may grow, in pages, so that copying it needs no more than the reserve.
    var logPageCountHigh: Int { byteCount / WriterLimits.pageByteCount }

    /// Gives the space back to the disk.
    mutating func release() {
        isHeld = false
        unsafe unlink(path)
    }

    /// Takes the space again; only with as much again free behind it, so that it is not given up at the next write.
    ///
    /// A database that has room inside does not grow for a while: then half of what is free is enough, and the log is
    /// kept as short. Else a disk that was filled by notifications would stay full when all of them are delivered.
    /// - Parameter unusedByteCount: What the database has inside and does not use.
    mutating func restore(unusedByteCount: Int) {
        if take(wholeByteCount) || unusedByteCount < 2 * wholeByteCount { return }
        var disk = statvfs()
        guard unsafe statvfs(databasePath, &disk) == 0 else { return }
        let (free, overflow) = UInt64(disk.f_bavail).multipliedReportingOverflow(by: UInt64(disk.f_frsize))
        let half = overflow ? wholeByteCount : Int(clamping: free / 2)
        if half >= WriterLimits.reserveByteCountMin { _ = take(min(half, wholeByteCount)) }
    }

    private mutating func take(_ byteCount: Int) -> Bool {
        guard !isHeld else { return true }
        let descriptor = unsafe open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        guard posix_fallocate(descriptor, 0, off_t(byteCount) * 2) == 0, ftruncate(descriptor, off_t(byteCount)) == 0
        else {
            release()
            return false
        }
        self.byteCount = byteCount
        isHeld = true
        return true
    }
}
