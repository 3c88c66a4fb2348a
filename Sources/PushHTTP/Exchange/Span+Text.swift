// SPDX-License-Identifier: Apache-2.0

internal import Glibc

extension Span where Element == UInt8 {
    /// Returns whether these bytes equal those of a literal.
    func equals(_ literal: StaticString) -> Bool {
        guard count == literal.utf8CodeUnitCount else { return false }
        return starts(with: literal)
    }

    /// Returns whether these bytes begin with those of a literal.
    func starts(with literal: StaticString) -> Bool {
        guard count >= literal.utf8CodeUnitCount else { return false }
        return literal.withUTF8Buffer { expected in
            guard let expectedStart = expected.baseAddress else { return true }
            return unsafe withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress else { return expected.isEmpty }
                return unsafe memcmp(start, expectedStart, expected.count) == 0
            }
        }
    }

    /// Copies these bytes to memory that has room for them.
    fileprivate func copy(to start: UnsafeMutablePointer<UInt8>) {
        unsafe withUnsafeBufferPointer { bytes in
            guard let source = bytes.baseAddress else { return }
            unsafe start.initialize(from: source, count: bytes.count)
        }
    }

    /// Returns whether these bytes equal a lower-case literal, ignoring the case of ASCII letters.
    func equalsIgnoringCase(_ literal: StaticString) -> Bool {
        guard count == literal.utf8CodeUnitCount else { return false }
        return literal.withUTF8Buffer { expected in
            for index in 0..<expected.count where unsafe self[index].asciiLowercased != expected[index] {
                return false
            }
            return true
        }
    }
}

extension UInt8 {
    /// This byte, with an ASCII capital letter converted to lower case.
    var asciiLowercased: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }
}

extension Array where Element == UInt8 {
    /// Appends the bytes of a literal.
    mutating func append(_ literal: StaticString) {
        literal.withUTF8Buffer { unsafe append(contentsOf: $0) }
    }

    /// Appends borrowed bytes.
    mutating func append(_ added: Span<UInt8>) {
        unsafe added.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// Appends two pieces of borrowed bytes with one capacity check.
    mutating func append(_ first: Span<UInt8>, _ second: Span<UInt8>) {
        append(addingCapacity: first.count + second.count) { output in
            // In bounds: the added capacity fits both pieces.
            unsafe output.withUnsafeMutableBufferPointer { space, count in
                guard let start = space.baseAddress else { return }
                unsafe first.copy(to: start)
                unsafe second.copy(to: start + first.count)
                count = first.count + second.count
            }
        }
    }

    /// Appends a non-negative number in decimal digits, without an allocation.
    mutating func append(number: Int) {
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var (start, rest) = (digits.count, number)
        repeat {
            start -= 1
            digits[start] = UInt8(truncatingIfNeeded: 0x30 + rest % 10)
            rest /= 10
        } while rest > 0
        append(digits.span.extracting(start..<digits.count))
    }

    /// Appends a non-negative number in hexadecimal digits, without an allocation.
    mutating func append(hexadecimal number: Int) {
        let digitCount = Swift.max(1, (Int.bitWidth - number.leadingZeroBitCount + 3) / 4)
        for place in (0..<digitCount).reversed() {
            let digit = number >> (4 * place) & 0xF
            append(UInt8(truncatingIfNeeded: digit < 10 ? 0x30 + digit : 0x57 + digit))
        }
    }
}
