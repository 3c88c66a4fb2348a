// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The C library's words for its error numbers.
package enum SystemError {
    /// For example `No such file or directory`; `strerror_r`, because `strerror` shares one buffer between threads.
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
