// SPDX-License-Identifier: Apache-2.0

internal import CCurl

/// A connection made by libcurl for a protocol that libcurl does not implement; open until its transfer is canceled.
///
/// - SeeAlso: CURLOPT_CONNECT_ONLY(3), curl_easy_send(3), curl_easy_recv(3)
package final class CurlChannel {
    /// The result of a read or a write.
    package enum Transfer: Sendable, Equatable {
        /// This number of bytes was transferred.
        case bytes(Int)
        /// The socket must become ready first.
        case mustWait
        /// The peer has closed the connection.
        case closed
    }

    /// The socket to wait for; libcurl closes it, so watch a duplicate.
    package let socket: Int32
    private let handle: EasyHandle
    private var buffer = [UInt8](repeating: 0, count: 16 * 1024)

    /// Creates a channel; nil if the transfer has no connection.
    init?(_ handle: EasyHandle) {
        guard let socket = handle.activeSocket else { return nil }
        self.socket = socket
        self.handle = handle
    }

    /// The server's certificates as PEM, its own first; empty without `looksAtCertificates`.
    package var certificates: [[UInt8]] { handle.certificates }

    /// Reads available bytes without blocking.
    ///
    /// - Parameter take: Receives the bytes, if any, for the duration of the call.
    /// - Returns: The result. After `bytes`, read again: bytes that TLS has buffered do not make the socket readable.
    /// - Throws: libcurl's error. The connection cannot be used afterwards.
    package func receive(_ take: (Span<UInt8>) -> Void) throws(CurlError) -> Transfer {
        var byteCount = 0
        let code = unsafe buffer.withUnsafeMutableBytes { space in
            unsafe curl_easy_recv(handle.pointer, space.baseAddress, space.count, &byteCount)
        }
        if code == CURLE_AGAIN { return .mustWait }
        if let error = handle.error(for: code) { throw error }
        guard byteCount > 0 else { return .closed }
        let bytes = buffer
        take(bytes.span.extracting(0..<byteCount))
        return .bytes(byteCount)
    }

    /// Writes as many bytes as possible without blocking; never returns `closed`.
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
    /// The socket of a transfer that only connects (CURLINFO_ACTIVESOCKET).
    fileprivate var activeSocket: Int32? {
        var socket: curl_socket_t = CURL_SOCKET_BAD
        let code = unsafe push_curl_easy_get_socket(pointer, CURLINFO_ACTIVESOCKET, &socket)
        return code == CURLE_OK && socket != CURL_SOCKET_BAD ? socket : nil
    }
}
