// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushTLS

/// The TLS handshake of one connection.
///
/// An incomplete ClientHello stays in the kernel, so that OpenSSL allocates nothing for it.
///
/// ```
/// waiting ──ClientHello is complete, first step──▶ begun ──last step──▶ done
/// ```
final class ServerHandshake {
    private let certificate: TLSContext
    /// The TLS connection; nil before the first step.
    private(set) var connection: TLSConnection?
    /// The number of bytes that OpenSSL may still read.
    private var allowedByteCount = 0
    /// Whether the socket was readable although the ClientHello is incomplete: do not watch it before the next tick.
    private(set) var isStalled = false
    /// The number of bytes that make the socket readable (SO_RCVLOWAT).
    private var readableByteCount = 1

    /// The place of this handshake among the others.
    var turn = HandshakeTurn()

    init(_ certificate: TLSContext) { self.certificate = certificate }

    /// Whether the first step is done.
    var hasBegun: Bool { connection != nil }

    /// Returns whether the kernel holds enough input for the next step.
    ///
    /// - Parameters:
    ///   - socket: The readable socket; after false, it becomes readable when enough has arrived.
    ///   - buffer: Space for the largest ClientHello; it is overwritten.
    /// - Returns: Whether to call `step`.
    /// - Throws: The reason to close the connection.
    func hasInput(_ socket: Int32, buffer: UnsafeMutableRawBufferPointer) throws(ServingError) -> Bool {
        guard allowedByteCount == 0, connection?.isFed ?? true else { return true }
        let peeked = try ServingError.wrapping { () throws(NetError) in try unsafe Sockets.peek(socket, into: buffer) }
        guard let count = peeked else { return false }
        guard count > 0 else { throw .tls(.peer("the peer left during the handshake")) }
        let bytes = unsafe Span<UInt8>(_unsafeBytes: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        switch ClientHelloFraming.examine(bytes, isFirst: !hasBegun, byteCountMax: Limits.clientHelloByteCountMax) {
        case .complete(let byteCount):
            allowedByteCount = byteCount
            try setReadableByteCount(socket, to: 1)
            return true
        case .needs(let byteCount):
            // The kernel reports fewer bytes at the end of input and when memory is short.
            isStalled = byteCount <= readableByteCount
            if !isStalled { try setReadableByteCount(socket, to: byteCount) }
            return false
        case .refused(let reason): throw .tls(.peer(reason))
        }
    }

    /// Performs the next step.
    ///
    /// - Parameters:
    ///   - socket: The socket.
    ///   - buffer: Space for the input of the step; it is overwritten.
    /// - Returns: What the handshake waits for, or `done`.
    /// - Throws: The reason to close the connection.
    func step(
        _ socket: Int32, buffer: UnsafeMutableRawBufferPointer
    ) throws(ServingError) -> TLSConnection.Progress {
        let connection = try makeConnection(socket)
        if connection.isFed { try unsafe feed(connection, socket, buffer) }
        do throws(TLSError) { return try connection.handshake() } catch { throw .tls(error) }
    }

    /// Returns the connection, made for the first step.
    private func makeConnection(_ socket: Int32) throws(ServingError) -> TLSConnection {
        if let connection { return connection }
        do throws(TLSError) {
            let connection = try TLSConnection(certificate, descriptor: socket, isFed: true)
            self.connection = connection
            return connection
        } catch {
            throw .tls(error)
        }
    }

    /// Moves the input that OpenSSL may read from the socket to the connection.
    private func feed(
        _ connection: TLSConnection, _ socket: Int32, _ buffer: UnsafeMutableRawBufferPointer
    ) throws(ServingError) {
        let byteCount = min(allowedByteCount, buffer.count)
        let taken = try ServingError.wrapping { () throws(NetError) in
            try unsafe Sockets.read(socket, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<byteCount]))
        }
        guard let taken else { return }
        guard taken > 0 || byteCount == 0 else { throw .tls(.peer("the peer left during the handshake")) }
        allowedByteCount -= taken
        do throws(TLSError) {
            try unsafe connection.feed(UnsafeRawBufferPointer(rebasing: buffer[..<taken]))
        } catch {
            throw .tls(error)
        }
    }

    private func setReadableByteCount(_ socket: Int32, to byteCount: Int) throws(ServingError) {
        guard byteCount != readableByteCount else { return }
        readableByteCount = byteCount
        try ServingError.wrapping { () throws(NetError) in try Sockets.setReadableByteCount(socket, to: byteCount) }
    }
}
