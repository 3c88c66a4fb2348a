// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The operating system's randomness, through OpenSSL.
package enum SecureRandom {
    /// Bytes that nobody can guess, from `RAND_bytes`.
    package static func bytes(count: Int) -> [UInt8] {
        guard count > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: count)
        unsafe bytes.withUnsafeMutableBytes { unsafe fill($0) }
        return bytes
    }

    /// A number that nobody can guess.
    package static func uint64() -> UInt64 {
        var number: UInt64 = 0
        unsafe withUnsafeMutableBytes(of: &number) { unsafe fill($0) }
        return number
    }

    /// Without randomness nothing here is safe, so the process stops.
    fileprivate static func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        guard let start = unsafe buffer.bindMemory(to: UInt8.self).baseAddress else { return }
        let code = ErrorQueue.cleared { unsafe RAND_bytes(start, Int32(buffer.count)) }
        precondition(code == 1, "OpenSSL has no randomness: \(ErrorQueue.takeText() ?? "no reason")")
    }
}

/// Numbers that nobody can guess, drawn by the page: `RAND_bytes` costs as much for one as for many.
///
/// Not Sendable: one per loop. A number is handed out once, and forgotten.
package final class RandomNumbers {
    private var numbers = [UInt64](repeating: 0, count: 128)
    private var leftCount = 0

    /// Begins with none drawn.
    package init() {}

    /// The next number.
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
