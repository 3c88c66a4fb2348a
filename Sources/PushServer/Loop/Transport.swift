// SPDX-License-Identifier: Apache-2.0

internal import PushNet
internal import PushTLS

/// How bytes get through a connection's socket.
enum Transport {
    case tls(TLSConnection)
    case plain

    enum Transfer {
        case bytes(Int)
        /// For the socket to become ready for what was asked.
        case mustWait
        /// A read that must first write: TLS answers a peer's KeyUpdate, and the socket does not take it.
        case mustWrite
        case closed
    }

    func read(_ socket: Int32, into buffer: UnsafeMutableRawBufferPointer) throws(ServerError) -> Transfer {
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

    func write(_ socket: Int32, _ bytes: [UInt8], from offset: Int) throws(ServerError) -> Transfer {
        try unsafe bytes.span.extracting(offset...).withUnsafeBytes { buffer throws(ServerError) in
            try unsafe write(socket, buffer)
        }
    }

    private func write(_ socket: Int32, _ bytes: UnsafeRawBufferPointer) throws(ServerError) -> Transfer {
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

    /// Bytes wait that the socket's readiness does not tell of.
    var hasBufferedInput: Bool {
        switch self {
        case .tls(let connection): connection.hasBufferedInput
        case .plain: false
        }
    }

    func close() {
        switch self {
        case .tls(let connection): connection.close()
        case .plain: break
        }
    }
}
