// SPDX-License-Identifier: Apache-2.0

internal import PushNet
internal import PushSQLite

/// The reserve for deletions, and the time of the next attempt to allocate it again.
struct DiskSpace {
    private var reserve: DiskReserve
    private var nextRestore = MonotonicTime.now
    private let onNotice: @Sendable (StoreNotice) -> Void

    init(_ reserve: DiskReserve, _ configuration: StoreConfiguration) {
        self.reserve = reserve
        onNotice = configuration.onNotice
    }

    /// Whether the reserve is allocated, so that notifications may be stored.
    var isHeld: Bool { reserve.isHeld }

    /// The number of pages in the write-ahead log at which a checkpoint runs.
    var logPageCountHigh: Int { reserve.logPageCountHigh }

    /// Returns whether notifications may be stored; after a full disk, only once the reserve is allocated again.
    mutating func isAvailable(_ connection: Connection) -> Bool {
        if reserve.isHeld { return true }
        let now = MonotonicTime.now
        guard now >= nextRestore else { return false }
        nextRestore = now.advanced(byMilliseconds: WriterLimits.reserveRetryMilliseconds)
        reserve.restore(unusedByteCount: ((try? connection.unusedPageCount()) ?? 0) * WriterLimits.pageByteCount)
        if reserve.isHeld { onNotice(.spaceReturned) }
        return reserve.isHeld
    }

    /// Releases the reserve after the disk was found to be full.
    mutating func giveUp(_ error: StoreError) {
        if reserve.isHeld { onNotice(.diskFull(error)) }
        reserve.release()
        nextRestore = MonotonicTime.now.advanced(byMilliseconds: WriterLimits.reserveRetryMilliseconds)
    }
}
