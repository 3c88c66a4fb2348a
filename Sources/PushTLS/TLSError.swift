// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import Glibc

/// A failure of OpenSSL, with the file or the purpose of the failed call.
package enum TLSError: Error, Sendable, Hashable {
    /// A failed library call, with the text from its error queue.
    case library(during: String, text: String)
    /// A file that cannot be read or parsed, with a text that says how to fix it.
    case badFile(path: String, text: String)
    /// A violation of the protocol by the peer, or a broken connection.
    case peer(String)
}

extension TLSError: CustomStringConvertible {
    /// The error in one line, for the log.
    package var description: String {
        switch self {
        case .library(let purpose, let text): "\(purpose): \(text)"
        case .badFile(let path, let text): "\(path): \(text)"
        case .peer(let text): "peer: \(text)"
        }
    }
}

/// OpenSSL's error queue: one per thread, shared by all connections of a loop, so it must be empty before each call.
enum ErrorQueue {
    /// Runs one call of the library with an empty error queue.
    static func cleared<Result>(_ call: () -> Result) -> Result {
        // The queue is nearly always empty, and checking costs a quarter of clearing it.
        if ERR_peek_error() != 0 { ERR_clear_error() }
        return call()
    }

    /// Makes one call that returns 1 on success.
    static func check(_ purpose: String, _ call: () -> Int32) throws(TLSError) {
        guard cleared(call) == 1 else { throw failure(during: purpose) }
    }

    /// Makes one call that returns a new handle, or nil on failure.
    static func check(_ purpose: String, _ call: () -> OpaquePointer?) throws(TLSError) -> OpaquePointer {
        guard let handle = unsafe cleared(call) else { throw failure(during: purpose) }
        return unsafe handle
    }

    /// Returns the error of the call that just failed; empties the queue.
    static func failure(during purpose: String) -> TLSError {
        .library(during: purpose, text: takeText() ?? "OpenSSL gave no reason")
    }

    /// Returns the text of the oldest error, which is the cause; nil if the queue is empty.
    ///
    /// Empties the queue.
    ///
    /// - Returns: The error text.
    static func takeText() -> String? {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else { return nil }
        // OpenSSL has no text for errors of system calls: their number is an errno.
        let systemFlag: UInt = 1 << 31
        if code & systemFlag != 0 { return text(ofErrno: Int32(truncatingIfNeeded: code & (systemFlag - 1))) }
        guard let reason = unsafe ERR_reason_error_string(code) else { return "OpenSSL error \(code)" }
        return unsafe String(cString: reason)
    }

    /// Returns whether the oldest error is this one; a code is the library's number above 23 bits of reason.
    static func isNext(library: Int32, reason: Int32) -> Bool {
        ERR_peek_error() == UInt(library) << 23 | UInt(reason)
    }

    /// Returns the C library's text for an errno.
    static func text(ofErrno code: Int32) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            unsafe buffer.initialize(repeating: 0)
            guard let start = buffer.baseAddress, unsafe strerror_r(code, start, buffer.count - 1) == 0 else {
                return "errno \(code)"
            }
            return unsafe String(cString: start)
        }
    }
}
