// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import CPushShims

/// A connection that libcurl made, for a protocol that it does not speak; until its transfer is cancelled.
///
/// - SeeAlso: CURLOPT_CONNECT_ONLY(3), curl_easy_send(3), curl_easy_recv(3)
package final class CurlChannel {
    /// What came of a transfer of bytes.
    package enum Transfer: Sendable, Equatable {
        /// So many went through.
        case bytes(Int)
        /// The socket must become ready first.
        case mustWait
        /// The other end has closed.
        case closed
    }

    /// To wait for; libcurl closes it, so watch a duplicate.
    package let socket: Int32
    private let handle: EasyHandle
    private var buffer = [UInt8](repeating: 0, count: 16 * 1024)

    /// Nil when the transfer has no connection.
    init?(_ handle: EasyHandle) {
        guard let socket = handle.activeSocket else { return nil }
        self.socket = socket
        self.handle = handle
    }

    /// PEM texts of the certificates that the server showed, its own first; empty unless `looksAtCertificates`.
    package var certificates: [[UInt8]] { handle.certificates }

    /// Reads what is there.
    ///
    /// - Parameter take: Gets the bytes, if there are any, lent for the call.
    /// - Returns: Read on after `bytes`: what TLS holds makes no socket ready.
    /// - Throws: What libcurl said; the connection is of no use then.
    package func receive(_ take: (Span<UInt8>) -> Void) throws(CurlError) -> Transfer {
        var byteCount = 0
        let code = unsafe buffer.withUnsafeMutableBytes { room in
            unsafe curl_easy_recv(handle.pointer, room.baseAddress, room.count, &byteCount)
        }
        if code == CURLE_AGAIN { return .mustWait }
        if let error = handle.error(for: code) { throw error }
        guard byteCount > 0 else { return .closed }
        let bytes = buffer
        take(bytes.span.extracting(0..<byteCount))
        return .bytes(byteCount)
    }

    /// Writes as much as fits; never `closed`.
    package func send(_ bytes: Span<UInt8>) throws(CurlError) -> Transfer {
        var byteCount = 0
        let code = unsafe bytes.withUnsafeBytes { bytes in
            unsafe curl_easy_send(handle.pointer, bytes.baseAddress, bytes.count, &byteCount)
        }
        if code == CURLE_AGAIN { return .mustWait }
        if let error = handle.error(for: code) { throw error }
        return .bytes(byteCount)
    }
}

extension EasyHandle {
    /// CURLINFO_ACTIVESOCKET: the connection of a transfer that only connects.
    fileprivate var activeSocket: Int32? {
        var socket: curl_socket_t = CURL_SOCKET_BAD
        let code = unsafe push_curl_easy_get_socket(pointer, CURLINFO_ACTIVESOCKET, &socket)
        return code == CURLE_OK && socket != CURL_SOCKET_BAD ? socket : nil
    }
}
