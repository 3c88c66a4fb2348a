// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The operating system's random numbers, through OpenSSL.
package enum SecureRandom {
    /// Returns unpredictable bytes from `RAND_bytes`.
    package static func bytes(count: Int) -> [UInt8] {
        guard count > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: count)
        unsafe bytes.withUnsafeMutableBytes { unsafe fill($0) }
        return bytes
    }

    /// Returns an unpredictable number.
    package static func uint64() -> UInt64 {
        var number: UInt64 = 0
        unsafe withUnsafeMutableBytes(of: &number) { unsafe fill($0) }
        return number
    }

    /// Fills a buffer with random bytes; without randomness nothing here is secure, so a failure stops the process.
    fileprivate static func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        guard let start = unsafe buffer.bindMemory(to: UInt8.self).baseAddress else { return }
        let code = ErrorQueue.cleared { unsafe RAND_bytes(start, Int32(buffer.count)) }
        precondition(code == 1, "OpenSSL has no randomness: \(ErrorQueue.takeText() ?? "no reason")")
    }
}

/// Unpredictable numbers, drawn in batches: `RAND_bytes` costs about as much for one number as for many.
///
/// Not Sendable: use one per loop. Each number is returned once and then erased.
package final class RandomNumbers {
    private var numbers = [UInt64](repeating: 0, count: 512)
    private var leftCount = 0

    /// Creates an empty batch; the first call of `next` fills it.
    package init() {}

    /// Returns the next number.
    package func next() -> UInt64 {
        if leftCount == 0 {
            unsafe numbers.withUnsafeMutableBytes { unsafe SecureRandom.fill($0) }
            leftCount = numbers.count
        }
        leftCount -= 1
        let number = numbers[leftCount]
        numbers[leftCount] = 0
        return number
    }
}
