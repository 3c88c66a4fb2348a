// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PushNet

@Suite struct ProgramTextTests {
    @Test func `only code of files is found in the kernel's list`() {
        let maps = """
            55bd9000-55c0a000 r-xp 00000000 fe:00 16237646                   /usr/bin/posthorn-agent
            55c0b000-55c0c000 r--p 00031000 fe:00 16237646                   /usr/bin/posthorn-agent
            55c0c000-55c0d000 rw-p 00032000 fe:00 16237646                   /usr/bin/posthorn-agent
            7f001000-7f002000 r-xp 00000000 fe:00 99                         /opt/a folder/b.so (deleted)
            7f002000-7f003000 r-xp 00000000 00:00 0
            7f003000-7f004000 r-xp 00000000 00:00 0                          [vdso]
            7f004000-7f005000 rwxp 00000000 fe:00 99                         /opt/patched.so
            nonsense
            zz-yy r-xp 00000000 fe:00 99 /opt/c.so
            """
        #expect(
            ProgramText.codeRanges(inMaps: Array(maps.utf8)) == [0x55bd_9000..<0x55c0_a000, 0x7f00_1000..<0x7f00_2000])
    }

    @Test func `released code still runs, and less of it is resident`() throws {
        func residentPageCount() throws -> Int {
            let words = try PrivateFile.read("/proc/self/statm").split(separator: UInt8(ascii: " "))
            return try #require(Int(String(decoding: words[2], as: UTF8.self)))
        }
        let before = try residentPageCount()
        ProgramText.release()
        #expect(try residentPageCount() < before)
        #expect((1...100).map { "\($0)" }.sorted().first == "1")
    }
}
