// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A file of nothing beside the database, given up when the disk is full, so that deletions can still be committed.
///
/// Deleting needs space too: the write-ahead log grows first, and copying it makes the database grow. While the reserve
/// is gone, only what shrinks is done; else new notifications would eat the space that was freed.
struct DiskReserve {
    private let path: String
    private let byteCount: Int
    /// Whether the file is there, with all its blocks.
    private(set) var isHeld = false

    /// Takes the reserve beside a database, if the disk has that much: a sixteenth of the disk, within bounds.
    init(beside databasePath: String) {
        path = "\(databasePath)-reserve"
        var disk = statvfs()
        let isKnown = unsafe statvfs(databasePath, &disk) == 0
        let (diskByteCount, overflow) = UInt64(disk.f_blocks).multipliedReportingOverflow(by: UInt64(disk.f_frsize))
        let share = isKnown && !overflow ? Int(clamping: diskByteCount / 16) : WriterLimits.reserveByteCountMax
        byteCount = min(max(share, WriterLimits.reserveByteCountMin), WriterLimits.reserveByteCountMax)
        restore()
    }

    /// How long the write-ahead log may grow, in pages, so that copying it needs no more than the reserve.
    var logPageCountHigh: Int { byteCount / WriterLimits.pageByteCount }

    /// Gives the space back to the disk.
    mutating func release() {
        isHeld = false
        unsafe unlink(path)
    }

    /// Takes the space again; only with as much again free behind it, so that it is not given up at the next write.
    mutating func restore() {
        guard !isHeld else { return }
        let descriptor = unsafe open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard posix_fallocate(descriptor, 0, off_t(byteCount) * 2) == 0, ftruncate(descriptor, off_t(byteCount)) == 0
        else {
            release()
            return
        }
        isHeld = true
    }
}
