// SPDX-License-Identifier: Apache-2.0

internal import CLinux

/// The process's heap.
package enum Heap {
    /// Gives free memory back to the system (`malloc_trim`); takes some milliseconds for each hundred megabytes.
    package static func trim() { _ = malloc_trim(0) }
}
