// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The machine code mapped into this process: its own and that of libraries.
package enum ProgramText {
    /// Removes all code from resident memory (`MADV_DONTNEED`); code that runs again is mapped from the page cache.
    ///
    /// Otherwise code that only the startup needed stays mapped until the process ends. These pages are never written,
    /// so only a debugger's breakpoints are lost. The call takes less than a millisecond.
    package static func release() {
        // Without /proc, the only effect is higher memory use.
        guard let maps = try? PrivateFile.read("/proc/self/maps") else { return }
        for range in codeRanges(inMaps: maps) {
            guard let start = unsafe UnsafeMutableRawPointer(bitPattern: range.lowerBound) else { continue }
            _ = unsafe madvise(start, range.count, MADV_DONTNEED)
        }
    }

    /// Returns the ranges of executable file mappings, from lines such as `55bd9000-569a2000 r-xp 00000000 fe:00
    /// 16237646 /usr/bin/true`.
    ///
    /// Read-only mappings are skipped: they look like the tables that the linker has relocated.
    ///
    /// - Parameter maps: The text of `/proc/self/maps`.
    /// - Returns: The address ranges.
    static func codeRanges(inMaps maps: [UInt8]) -> [Range<UInt>] {
        maps.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
            guard words.count == 6, words[1].elementsEqual("r-xp".utf8),
                words[5].drop(while: { $0 == UInt8(ascii: " ") }).first == UInt8(ascii: "/")
            else { return nil }
            let ends = words[0].split(separator: UInt8(ascii: "-")).map {
                UInt(String(decoding: $0, as: UTF8.self), radix: 16)
            }
            guard ends.count == 2, let start = ends[0], let end = ends[1], start < end else { return nil }
            return start..<end
        }
    }
}
