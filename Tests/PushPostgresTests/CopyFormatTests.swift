// SPDX-License-Identifier: Apache-2.0

@testable import PushPostgres
import PushSQL
import TestSupport
import Testing

@Suite struct CopyFormatTests {
    private static let columns: [CopyColumn] = [.bigint, .integer, .text, .bytea]
    private static let rows: [[SQLValue]] = [
        [.number(.min), .number(Int64(Int32.min)), .text(""), .bytes([])],
        [.number(-1), .number(Int64(Int32.max)), .text("e\u{301} 🦆"), .bytes(Array(0...255))],
        [.null, .null, .null, .null],
        [.number(.max), .number(0), .text(String(repeating: "x", count: 3000)), .bytes([0])],
    ]

    private func encoded(_ rows: [[SQLValue]]) -> [UInt8] {
        var encoder = CopyEncoder(Self.columns)
        for row in rows { encoder.append(row) }
        encoder.appendEnd()
        return encoder.take()
    }

    @Test func `the bytes are those of the manual`() {
        var encoder = CopyEncoder([.bigint, .text, .integer])
        encoder.append([.number(258), .text("a\0"), .null])
        #expect(encoder.byteCount == 19 + 2 + 12 + 8 + 4)
        encoder.appendEnd()
        let header: [UInt8] = Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        #expect(
            encoder.take() == header + [0, 3, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 1, 2]
                + [0, 0, 0, 4, UInt8(ascii: "a"), 0xef, 0xbf, 0xbd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])
        #expect(encoder.byteCount == 0)
    }

    @Test(arguments: [1, 2, 3, 7, 19, 100, 10_000])
    func `rows are decoded from parts of any size`(partByteCount: Int) throws {
        let bytes = encoded(Self.rows)
        var decoder = CopyDecoder(Self.columns)
        var found: [[SQLValue]] = []
        for start in stride(from: 0, to: bytes.count, by: partByteCount) {
            #expect(!decoder.isComplete)
            decoder.append(Array(bytes[start..<min(start + partByteCount, bytes.count)]))
            while let row = try decoder.next() { found.append(row) }
        }
        #expect(found == Self.rows)
        #expect(decoder.isComplete)
        #expect(try decoder.next() == nil)
    }

    @Test func `an extension of the header is skipped`() throws {
        var bytes = encoded(Self.rows)
        bytes[18] = 3
        bytes.insert(contentsOf: [9, 9, 9], at: 19)
        var decoder = CopyDecoder(Self.columns)
        decoder.append(bytes)
        #expect(try decoder.next() == Self.rows[0])
    }

    @Test(arguments: [
        (0, UInt8(ascii: "Q"), "the header is unknown"), (15, 0x80, "the header is unknown"),
        (20, 5, "a row has 5 columns instead of 4"), (24, 7, "a number has 7 bytes"),
        (36, 3, "a number has 3 bytes"),
    ])
    func `bytes in another format are refused`(place: Int, value: UInt8, problem: String) {
        var bytes = encoded(Self.rows)
        bytes[place] = value
        var decoder = CopyDecoder(Self.columns)
        decoder.append(bytes)
        #expect(throws: CopyDecoder.Malformed(what: problem)) { try decoder.next() }
    }

    @Test(arguments: 0..<20)
    func `changed bytes do not crash`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            var bytes = encoded(Self.rows)
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^= .random(in: 1 ... .max, using: &generator)
            var decoder = CopyDecoder(Self.columns)
            decoder.append(bytes)
            while let row = try? decoder.next() { #expect(row.count == 4, "seed \(seed)") }
        }
    }

    @Test func `a value of another type is a mistake of ours`() async {
        await #expect(processExitsWith: .failure) {
            var encoder = CopyEncoder([.text])
            encoder.append([.number(1)])
        }
    }
}
