// SPDX-License-Identifier: Apache-2.0

internal import CLinux

/// The process's heap.
package enum Heap {
    /// Gives free memory back to the system (`malloc_trim`); takes some milliseconds for each hundred megabytes.
    package static func trim() { _ = malloc_trim(0) }

    /// Bytes that are allocated now, in all threads (`mallinfo2`).
    package static var usedByteCount: Int {
        let facts = mallinfo2()
        return Int(clamping: facts.uordblks) + Int(clamping: facts.hblkhd)
    }
}
