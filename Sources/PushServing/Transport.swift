// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushTLS

/// The transport of a connection's bytes, with or without TLS.
enum Transport {
    case tls(TLSConnection)
    case plain

    enum Transfer {
        case bytes(Int)
        /// The caller must wait until the socket is ready for the operation.
        case mustWait
        /// The read must write first: TLS answers a peer's KeyUpdate, and the socket does not accept it.
        case mustWrite
        case closed
    }

    func read(_ socket: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(ServingError) -> Transfer {
        switch self {
        case .tls(let connection):
            do throws(TLSError) {
                switch try unsafe connection.read(into: buffer) {
                case .bytes(let count): return .bytes(count)
                case .wantsRead: return .mustWait
                case .wantsWrite: return .mustWrite
                case .closed: return .closed
                }
            } catch {
                throw .tls(error)
            }
        case .plain:
            do throws(NetError) {
                guard let count = try unsafe Sockets.read(socket, into: buffer) else { return .mustWait }
                return count == 0 ? .closed : .bytes(count)
            } catch {
                throw .system(error)
            }
        }
    }

    func write(_ socket: Int32, _ bytes: [UInt8], from offset: Int) throws(ServingError) -> Transfer {
        try unsafe bytes.span.extracting(offset...).withUnsafeBytes { buffer throws(ServingError) in
            try unsafe write(socket, buffer)
        }
    }

    private func write(_ socket: Int32, _ bytes: UnsafeRawBufferPointer) throws(ServingError) -> Transfer {
        switch self {
        case .tls(let connection):
            do throws(TLSError) {
                switch try unsafe connection.write(bytes) {
                case .bytes(let count): return .bytes(count)
                case .wantsRead, .wantsWrite: return .mustWait
                case .closed: return .closed
                }
            } catch {
                throw .tls(error)
            }
        case .plain:
            do throws(NetError) {
                guard let count = try unsafe Sockets.write(socket, bytes) else { return .mustWait }
                return .bytes(count)
            } catch {
                throw .system(error)
            }
        }
    }

    /// The TLS connection; nil without TLS.
    var encryption: TLSConnection? {
        switch self {
        case .tls(let connection): connection
        case .plain: nil
        }
    }

    /// Whether input is buffered that the socket's readiness does not show.
    var hasBufferedInput: Bool {
        switch self {
        case .tls(let connection): connection.hasBufferedInput
        case .plain: false
        }
    }

    /// The size of the buffer for an incomplete TLS record, in bytes; only valid after `mustWait`.
    var partialRecordByteCount: Int {
        guard case .tls(let connection) = self, connection.holdsPartialRecord else { return 0 }
        return Limits.recordBufferByteCount
    }

    func close() {
        switch self {
        case .tls(let connection): connection.close()
        case .plain: break
        }
    }
}
