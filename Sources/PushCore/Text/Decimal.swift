// SPDX-License-Identifier: Apache-2.0

/// Parses and formats integers in ASCII digits.
package enum Decimal {
    /// Parses one or more digits, without sign and whitespace; returns nil if the number does not fit.
    package static func parse(_ digits: Span<UInt8>) -> Int64? {
        guard !digits.isEmpty else { return nil }
        var number: Int64 = 0
        for offset in digits.indices {
            let digit = digits[offset]
            guard isDigit(digit) else { return nil }
            let (tenfold, tenfoldOverflows) = number.multipliedReportingOverflow(by: 10)
            let (sum, sumOverflows) = tenfold.addingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
            guard !tenfoldOverflows, !sumOverflows else { return nil }
            number = sum
        }
        return number
    }

    /// The largest number of bytes that `append` appends.
    package static let byteCountMax = 20

    /// Appends the digits of a number, after a minus sign when it is negative.
    package static func append(_ value: Int64, to output: inout [UInt8]) {
        output.append(addingCapacity: byteCountMax) { append(value, to: &$0) }
    }

    /// Appends the digits of a number to space for at least `byteCountMax` bytes.
    package static func append(_ value: Int64, to output: inout OutputSpan<UInt8>) {
        // Nineteen digits hold the largest magnitude, that of `Int64.min`.
        var digits = InlineArray<19, UInt8>(repeating: UInt8(ascii: "0"))
        var first = digits.count
        var rest = value.magnitude
        repeat {
            first -= 1
            digits[first] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        if value < 0 { output.append(UInt8(ascii: "-")) }
        output.append(digits.span.extracting(first..<digits.count))
    }

    /// Returns whether a byte is an ASCII digit.
    @inline(__always)
    package static func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0") <= byte && byte <= UInt8(ascii: "9")
    }
}
