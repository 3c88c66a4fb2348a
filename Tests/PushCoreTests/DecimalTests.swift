// SPDX-License-Identifier: Apache-2.0

@testable import PushCore
import TestSupport
import Testing

struct DecimalTests {
    @Test(
        arguments: [
            ("0", 0), ("9", 9), ("10", 10), ("007", 7), ("9223372036854775807", .max), ("0009223372036854775807", .max),
            ("9223372036854775808", nil), ("9223372036854775810", nil), ("99999999999999999999", nil),
            ("18446744073709551617", nil), ("", nil), ("-1", nil), ("+1", nil), (" 1", nil), ("1 ", nil), ("1.0", nil),
            ("1e3", nil),
            ("0x1", nil), ("١", nil), ("1\0", nil), ("/", nil), (":", nil),
        ] as [(String, Int64?)])
    func `only digits form a number, and only if it fits`(text: String, number: Int64?) {
        #expect(Decimal.parse(bytes(text)) == number)
    }

    @Test(arguments: [0, 1, 9, 10, 99, 100, -1, -10, .max, .min] as [Int64])
    func `a number is written as decimal digits`(number: Int64) {
        var output = bytes("x")
        Decimal.append(number, to: &output)
        #expect(output == bytes("x\(number)"))
    }

    @Test(arguments: seeds)
    func `a number survives writing and reading`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let number = Int64.random(in: 0 ... .max, using: &generator) >> Int64.random(in: 0...62, using: &generator)
        var output: [UInt8] = []
        Decimal.append(number, to: &output)
        #expect(Decimal.parse(output) == number)
    }
}
