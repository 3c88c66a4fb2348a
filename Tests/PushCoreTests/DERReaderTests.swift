// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PushCore

struct DERReaderTests {
    /// Reads a UTF8String that must span the whole input.
    private func text(_ der: [UInt8]) throws(DERReader.Malformed) -> String {
        var reader = DERReader(der.span)
        let text = try reader.text(der.span)
        guard reader.isAtEnd else { throw DERReader.Malformed() }
        return text
    }

    @Test(arguments: [0, 1, 0x7F, 0x80, 0xFF, 0x100, 0xFFFF])
    func `a text of any length can be decoded`(byteCount: Int) throws {
        let written = String(repeating: "a", count: byteCount)
        #expect(try text(DERWriter.text(written)) == written)
    }

    @Test(
        arguments: [
            [], [0x0C], [0x0C, 0x01], [0x0C, 0x02, 0x61], [0x0C, 0x80], [0x0C, 0x80, 0x61, 0, 0], [0x0C, 0xFF],
            [0x13, 0x01, 0x61], [0x2C, 0x01, 0x61], [0x1F, 0x0C, 0x01, 0x61], [0x0C, 0x00, 0x00],
            [0x0C, 0x01, 0xFF], [0x0C, 0x02, 0xC0, 0x80], [0x0C, 0x03, 0xED, 0xA0, 0x80],
            [0x0C, 0x81], [0x0C, 0x82, 0x01], [0x0C, 0x81, 0x01, 0x61], [0x0C, 0x82, 0x00, 0x01, 0x61],
            [0x0C, 0x83, 0x00, 0x00, 0x01, 0x61], [0x0C, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
            [0x0C, 0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        ] as [[UInt8]])
    func `an invalid DER UTF8String is refused`(der: [UInt8]) {
        #expect(throws: DERReader.Malformed()) { _ = try text(der) }
    }

    @Test(arguments: [0x7F, 0x80, 0xFF, 0x100])
    func `a length that is not in its shortest form is refused`(byteCount: Int) {
        let content = [UInt8](repeating: 0x61, count: byteCount)
        let longer = [0x82, UInt8(byteCount >> 8), UInt8(byteCount & 0xFF)]
        let isShortest = byteCount >= 0x100
        #expect(((try? text([0x0C] + longer + content)) != nil) == isShortest)
    }

    @Test func `an element does not extend beyond its container`() throws {
        // The inner text's length includes the byte after the sequence.
        let der: [UInt8] = [0x30, 0x03, 0x0C, 0x02, 0x61, 0x62]
        var reader = DERReader(der.span)
        var inner = try reader.elements(of: DERReader.Tag.sequence, der.span)
        do throws(DERReader.Malformed) {
            _ = try inner.text(der.span)
            Issue.record("it was read")
        } catch {}
    }
}
