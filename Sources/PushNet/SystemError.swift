// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The C library's texts for its error numbers.
package enum SystemError {
    /// Returns a text such as `No such file or directory`; uses `strerror_r`, because threads share the buffer of
    /// `strerror`.
    package static func text(_ code: Int32) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            unsafe buffer.initialize(repeating: 0)
            guard let start = buffer.baseAddress, unsafe strerror_r(code, start, buffer.count - 1) == 0 else {
                return "errno \(code)"
            }
            return unsafe String(cString: start)
        }
    }
}
