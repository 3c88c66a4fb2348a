// SPDX-License-Identifier: Apache-2.0

@testable import PushCore
import TestSupport
import Testing

struct HexTests {
    @Test(
        arguments: [
            ("", []), ("00", [0]), ("ff", [255]), ("FF", [255]), ("aF09", [0xAF, 0x09]),

            ("0", nil), ("000", nil), ("0g", nil), ("g0", nil), ("0x", nil), ("+1", nil), (" 1", nil), ("1 ", nil),
            ("é", nil),
            ("/0", nil), (":0", nil), ("@0", nil), ("G0", nil), ("`0", nil),
        ] as [(String, [UInt8]?)])
    func `an even number of digits in either case is decoded`(text: String, decoded: [UInt8]?) {
        #expect(Hex.decode(bytes(text)) == decoded)
    }

    @Test(arguments: [0, 1, 2, 62, 63, 65, 66, 128])
    func `any other number of digits than 64 is refused`(count: Int) {
        #expect(Hex.decode32([UInt8](repeating: UInt8(ascii: "a"), count: count)) == nil)
    }

    @Test(arguments: 0..<64)
    func `an invalid digit at any place is refused`(place: Int) {
        var digits = [UInt8](repeating: UInt8(ascii: "a"), count: 64)
        #expect(Hex.decode32(digits) != nil)
        digits[place] = UInt8(ascii: "g")
        #expect(Hex.decode32(digits) == nil)
    }

    @Test(arguments: 0..<8)
    func `every byte value at each place is a digit or is refused`(place: Int) {
        for byte in UInt8.min...UInt8.max {
            var digits = [UInt8](repeating: UInt8(ascii: "7"), count: 64)
            digits[56 + place] = byte
            #expect(Hex.decode32(digits) == Hex.decode(digits), "\(byte)")
        }
    }

    @Test(arguments: seeds)
    func `encoded bytes are decoded again, in either case`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let original = generator.bytes(countMax: 40)
        let text = Hex.string(original)
        #expect(Hex.decode(bytes(text)) == original)
        #expect(Hex.decode(bytes(text.uppercased())) == original)
        let first = Array((original + [UInt8](repeating: 7, count: 32))[..<32])
        #expect(Hex.decode32(bytes(Hex.string(first))) == first)
        #expect(Hex.decode32(bytes(Hex.string(first).uppercased())) == first)
    }

    @Test func `digits are encoded in lower case`() {
        var output = bytes("x")
        Hex.append(([0x00, 0xAB, 0xFF] as [UInt8]).span, to: &output)
        #expect(output == bytes("x00abff"))
    }
}
