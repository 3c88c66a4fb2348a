// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The standard output and standard error of the program.
package enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    /// Writes a whole text with write(2); stops silently if the reader has closed the stream.
    package func write(_ text: String) { write(Array(text.utf8)) }

    /// Writes all bytes with write(2); stops silently if the reader has closed the stream.
    package func write(_ bytes: [UInt8]) {
        var bytes = bytes[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(rawValue, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Writes the last message of a program, which must exit even if its reader is stuck.
    ///
    /// - Parameters:
    ///   - text: The text. The part that the reader does not accept in time is lost.
    ///   - timeout: The longest wait for the reader, in seconds.
    package func writeLastWords(_ text: String, timeout: Int32 = 1) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            var wish = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
            // A writable pipe accepts this many bytes without a wait.
            let piece = rest.prefix(LogBounds.lineByteCountMax)
            guard unsafe poll(&wish, 1, timeout * 1000) > 0 else { return }
            let count = unsafe piece.withUnsafeBytes { unsafe Glibc.write(rawValue, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
