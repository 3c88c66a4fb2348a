// SPDX-License-Identifier: Apache-2.0

internal import Glibc

extension Span where Element == UInt8 {
    /// Whether these are exactly the bytes of a literal.
    func equals(_ literal: StaticString) -> Bool {
        guard count == literal.utf8CodeUnitCount else { return false }
        return starts(with: literal)
    }

    /// Whether these bytes begin with those of a literal.
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

    /// Whether these bytes are a lower-case literal when ASCII letters lose their case.
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
    /// This byte with an ASCII capital made small; every other byte stays.
    var asciiLowercased: UInt8 { self >= 0x41 && self <= 0x5A ? self | 0x20 : self }
}

extension Array where Element == UInt8 {
    /// Appends the bytes of a literal.
    mutating func append(_ literal: StaticString) {
        literal.withUTF8Buffer { unsafe append(contentsOf: $0) }
    }

    /// Appends bytes that someone else holds.
    mutating func append(_ added: Span<UInt8>) {
        unsafe added.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// Appends a number that is not negative in this base, without an allocation.
    mutating func append(number: Int, radix: Int = 10) {
        var divisor = 1
        while number / divisor >= radix { divisor *= radix }
        while divisor > 0 {
            let digit = number / divisor % radix
            append(UInt8(truncatingIfNeeded: digit < 10 ? 0x30 + digit : 0x57 + digit))
            divisor /= radix
        }
    }
}
