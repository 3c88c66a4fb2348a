// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A placeholder file beside the database that is deleted when the disk is full, so that deletions can be committed.
///
/// Deleting needs space too: the write-ahead log grows first, and a checkpoint makes the database grow. While the
/// reserve is missing, the writer executes only commands that free space. Otherwise new notifications would consume the
/// freed space.
struct DiskReserve {
    private let databasePath: String
    private let path: String
    /// The size of the reserve on a disk with enough space.
    private let wholeByteCount: Int
    /// The size of the current or the last reserve.
    private var byteCount: Int
    /// Whether the file exists with all its blocks allocated.
    private(set) var isHeld = false

    /// Allocates the reserve beside a database: a sixteenth of the disk, within bounds.
    ///
    /// On a full disk, `isHeld` stays false.
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

    /// The number of pages in the write-ahead log at which a checkpoint runs, so that it needs no more than the
    /// reserve.
    var logPageCountHigh: Int { byteCount / WriterLimits.pageByteCount }

    /// Deletes the file, which frees its space.
    mutating func release() {
        isHeld = false
        unsafe unlink(path)
    }

    /// Allocates the reserve again, if the disk has twice its size free.
    ///
    /// The second half prevents that the next write fills the disk again. A database with enough unused pages does not
    /// grow for a while. A reserve of half the free space is then enough, and the log is kept equally short. Without
    /// this rule, a disk that notifications filled would stay full after all of them are delivered.
    ///
    /// - Parameter unusedByteCount: The size of the database's unused pages.
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
