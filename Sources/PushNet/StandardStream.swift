// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Where a program talks to whoever started it.
package enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    /// Writes a whole text with write(2); gives up silently when nobody listens any more.
    package func write(_ text: String) { write(Array(text.utf8)) }

    /// Writes all bytes with write(2); gives up silently when nobody listens any more.
    package func write(_ bytes: [UInt8]) {
        var bytes = bytes[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(rawValue, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
