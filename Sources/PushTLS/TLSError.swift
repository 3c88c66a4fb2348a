// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import Glibc

/// What OpenSSL said, with the file or the purpose that it was about.
package enum TLSError: Error, Sendable, Hashable {
    /// The library's text, read from its error queue at once.
    case library(during: String, text: String)
    /// A file that cannot be read or parsed: what to do about it.
    case badFile(path: String, text: String)
    /// The peer broke the protocol or the connection.
    case peer(String)
}

extension TLSError: CustomStringConvertible {
    /// One line for the log.
    package var description: String {
        switch self {
        case .library(let purpose, let text): "\(purpose): \(text)"
        case .badFile(let path, let text): "\(path): \(text)"
        case .peer(let text): "peer: \(text)"
        }
    }
}

/// OpenSSL's error queue: one per thread, shared by all connections of a loop, so each call starts with an empty one.
enum ErrorQueue {
    /// Runs one call of the library with an empty error queue.
    static func cleared<Result>(_ call: () -> Result) -> Result {
        // It nearly always is, and to see that costs a quarter of clearing it.
        if ERR_peek_error() != 0 { ERR_clear_error() }
        return call()
    }

    /// Runs one call that answers 1 when it succeeds.
    static func check(_ purpose: String, _ call: () -> Int32) throws(TLSError) {
        guard cleared(call) == 1 else { throw failure(during: purpose) }
    }

    /// Runs one call that answers a new handle, or nil when it fails.
    static func check(_ purpose: String, _ call: () -> OpaquePointer?) throws(TLSError) -> OpaquePointer {
        guard let handle = unsafe cleared(call) else { throw failure(during: purpose) }
        return unsafe handle
    }

    /// The error of the call that just failed; empties the queue.
    static func failure(during purpose: String) -> TLSError {
        .library(during: purpose, text: takeText() ?? "OpenSSL gave no reason")
    }

    /// The oldest error's text, which is the cause; nil when there is none.
    ///
    /// Empties the queue.
    static func takeText() -> String? {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else { return nil }
        // Errors of system calls have no text in OpenSSL: their number is an errno.
        let systemFlag: UInt = 1 << 31
        if code & systemFlag != 0 { return text(ofErrno: Int32(truncatingIfNeeded: code & (systemFlag - 1))) }
        guard let reason = unsafe ERR_reason_error_string(code) else { return "OpenSSL error \(code)" }
        return unsafe String(cString: reason)
    }

    /// Whether the oldest error is this one; a code is a library's number above 23 bits of reason.
    static func isNext(library: Int32, reason: Int32) -> Bool {
        ERR_peek_error() == UInt(library) << 23 | UInt(reason)
    }

    /// The C library's words for an errno.
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
