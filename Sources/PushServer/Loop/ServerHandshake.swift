// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushTLS

/// The TLS handshake of one connection. An incomplete ClientHello stays in the kernel and takes no memory of OpenSSL.
///
/// ```
/// waiting ──ClientHello is complete, first step──▶ begun ──last step──▶ done
/// ```
final class ServerHandshake {
    private let certificate: TLSContext
    /// OpenSSL's side, from the first step on.
    private(set) var connection: TLSConnection?
    /// The number of bytes that make the socket readable (SO_RCVLOWAT).
    private var readableByteCount = 1

    init(_ certificate: TLSContext) { self.certificate = certificate }

    /// Whether the first step is done.
    var hasBegun: Bool { connection != nil }

    /// Returns whether enough input waits in the kernel for the next step; at the end of input, the step reports it.
    ///
    /// - Parameters:
    ///   - socket: The readable socket; after false, it becomes readable when enough has arrived.
    ///   - buffer: Space for the largest ClientHello; its contents are lost.
    /// - Returns: Whether to call `step`.
    /// - Throws: The reason to close the connection.
    func hasInput(_ socket: Int32, buffer: UnsafeMutableRawBufferPointer) throws(ServerError) -> Bool {
        guard connection?.awaitsRecordOfTLS13 ?? true else { return true }
        let peeked = try ServerError.wrapping { () throws(NetError) in try unsafe Sockets.peek(socket, into: buffer) }
        guard let count = peeked else { return false }
        guard count > 0 else { return true }
        let bytes = unsafe Span<UInt8>(_unsafeBytes: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        switch ClientHelloFraming.examine(bytes, isFirst: !hasBegun, byteCountMax: Limits.clientHelloByteCountMax) {
        case .complete:
            try setReadableByteCount(socket, to: 1)
            return true
        case .needs(let byteCount):
            // The kernel reports less than it was asked for only if no more will come.
            guard byteCount > readableByteCount else { throw .tls(.peer("the peer left during its ClientHello")) }
            try setReadableByteCount(socket, to: byteCount)
            return false
        case .refused(let reason): throw .tls(.peer(reason))
        }
    }

    /// Performs the next step.
    ///
    /// - Parameter socket: The socket.
    /// - Returns: What the handshake waits for, or `done`.
    /// - Throws: The reason to close the connection.
    func step(_ socket: Int32) throws(ServerError) -> TLSConnection.Progress {
        do throws(TLSError) {
            if let connection { return try connection.handshake() }
            let connection = try TLSConnection(certificate, descriptor: socket)
            self.connection = connection
            return try connection.handshake()
        } catch {
            throw .tls(error)
        }
    }

    private func setReadableByteCount(_ socket: Int32, to byteCount: Int) throws(ServerError) {
        guard byteCount != readableByteCount else { return }
        readableByteCount = byteCount
        try ServerError.wrapping { () throws(NetError) in try Sockets.setReadableByteCount(socket, to: byteCount) }
    }
}
