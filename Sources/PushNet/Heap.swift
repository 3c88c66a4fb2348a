// SPDX-License-Identifier: Apache-2.0

internal import CLinux

/// The memory allocator of this process.
package enum Heap {
    /// Returns free memory to the system (`malloc_trim`); takes some milliseconds for each hundred megabytes.
    package static func trim() { _ = malloc_trim(0) }

    /// The number of bytes that are currently allocated, in all threads (`mallinfo2`).
    package static var usedByteCount: Int {
        let facts = mallinfo2()
        return Int(clamping: facts.uordblks) + Int(clamping: facts.hblkhd)
    }
}
