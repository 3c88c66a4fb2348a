// SPDX-License-Identifier: Apache-2.0

@testable import PushCore
import Testing

struct DeviceIDTests {
    @Test(
        arguments: [
            ("0000000000000000", 0), ("0000000000000001", 1), ("0123456789abcdef", 0x0123_4567_89ab_cdef),
            ("7fffffffffffffff", 0x7fff_ffff_ffff_ffff),
        ] as [(String, UInt64)])
    func `sixteen lower-case digits are read and written`(text: String, number: UInt64) {
        #expect(DeviceID(text: text) == DeviceID(rawValue: number))
        #expect(DeviceID(rawValue: number).text == text)
    }

    @Test(arguments: [
        "", "000000000000001", "00000000000000001", "0123456789ABCDEF", "0123456789abcdeg", "8000000000000000",
        "ffffffffffffffff", "0x23456789abcdef", " 123456789abcdef", "012345678é",
    ])
    func `any other text and a set top bit are refused`(text: String) {
        #expect(DeviceID(text: text) == nil)
    }
}
