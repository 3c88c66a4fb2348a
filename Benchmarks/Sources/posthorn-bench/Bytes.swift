// SPDX-License-Identifier: Apache-2.0

internal import CBenchmark
internal import Glibc

extension UnsafeRawBufferPointer {
    /// Returns the first offset of a text at or after `start`; nil if the text does not occur.
    func offset(of text: StaticString, from start: Int = 0) -> Int? {
        guard let base = baseAddress, start < count,
            let found = memmem(base + start, count - start, text.utf8Start, text.utf8CodeUnitCount)
        else { return nil }
        return base.distance(to: UnsafeRawPointer(found))
    }

    /// Returns the decimal number at an offset, which ends at the first byte that is not a digit.
    func decimal(at start: Int) -> Int {
        var number = 0
        var index = start
        while index < count, case let digit = self[index], digit >= 0x30, digit <= 0x39 {
            number = number &* 10 &+ Int(digit &- 0x30)
            index += 1
        }
        return number
    }

    /// Returns the text between the first occurrence of `text` and the next quotation mark.
    func text(after text: StaticString) -> String? {
        guard let start = offset(of: text).map({ $0 + text.utf8CodeUnitCount }) else { return nil }
        let end = self[start...].firstIndex(of: 0x22) ?? count
        return String(decoding: self[start..<end], as: UTF8.self)
    }

    func begins(with text: StaticString) -> Bool {
        guard let base = baseAddress, count >= text.utf8CodeUnitCount else { return false }
        return memcmp(base, text.utf8Start, text.utf8CodeUnitCount) == 0
    }
}

extension Array where Element == UInt8 {
    /// Writes the last `digits` digits of a number, with leading zeros.
    mutating func putDecimal(_ number: Int, at start: Int, digits: Int) {
        var rest = number
        for index in (start..<start + digits).reversed() {
            self[index] = UInt8(0x30 + rest % 10)
            rest /= 10
        }
    }

    mutating func append(bigEndian number: UInt32, bytes: Int) {
        for shift in (0..<bytes).reversed() { append(UInt8(truncatingIfNeeded: number >> (8 * UInt32(shift)))) }
    }
}
