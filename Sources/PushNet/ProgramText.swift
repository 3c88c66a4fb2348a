// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The machine code of this process, its own and that of libraries.
package enum ProgramText {
    /// Takes all code out of resident memory (`MADV_DONTNEED`); what is used again comes back from the page cache at once.
    ///
    /// What only the start needed stays mapped otherwise for as long as the process runs. Nobody writes to these pages,
    /// so nothing is lost but a debugger's breakpoints. Takes less than a millisecond.
    package static func release() {
        // Without /proc there is only more memory in use.
        guard let maps = try? PrivateFile.read("/proc/self/maps") else { return }
        for range in codeRanges(inMaps: maps) {
            guard let start = unsafe UnsafeMutableRawPointer(bitPattern: range.lowerBound) else { continue }
            _ = unsafe madvise(start, range.count, MADV_DONTNEED)
        }
    }

    /// Where files are mapped to be run: lines such as `55bd9000-569a2000 r-xp 00000000 fe:00 16237646 /usr/bin/true`.
    ///
    /// Files that are mapped to be read are left alone: the tables that the linker filled in look like them.
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
