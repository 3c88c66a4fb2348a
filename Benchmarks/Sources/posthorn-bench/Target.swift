// SPDX-License-Identifier: Apache-2.0

internal import CBenchmark
internal import Glibc

/// The destination of connections, with its TLS settings.
///
/// Certificates are not verified, because that would add to the generator's cost.
final class Target {
    let port: UInt16
    let context: OpaquePointer
    /// The value of `:authority` or `host` in requests.
    var authority: String { "127.0.0.1:\(port)" }

    init(port: UInt16, protocols: String?) {
        self.port = port
        guard let context = SSL_CTX_new(TLS_client_method()) else { fail("SSL_CTX_new") }
        self.context = context
        SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nil)
        _ = bench_tls13_only(context)
        _ = bench_set_mode(
            context,
            Int(SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER) | Int(SSL_MODE_RELEASE_BUFFERS))
        if let protocols {
            let name = [UInt8(protocols.utf8.count)] + Array(protocols.utf8)
            SSL_CTX_set_alpn_protos(context, name, UInt32(name.count))
        }
    }

    /// Opens a connecting socket from one of 64 local addresses, so that ports do not run out.
    func connect(fromAddress number: Int) -> Int32 {
        let descriptor = socket(
            AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { fail("socket: errno \(errno): fewer connections, or more processes") }
        var one: Int32 = 1
        let byteCount = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, byteCount)
        setsockopt(descriptor, Int32(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, &one, byteCount)
        guard with(address(last: 2 + UInt32(number % 64), port: 0), { Glibc.bind(descriptor, $0, $1) }) == 0 else {
            fail("bind: errno \(errno)")
        }
        let code = with(address(last: 1, port: port)) { Glibc.connect(descriptor, $0, $1) }
        guard code == 0 || errno == EINPROGRESS else { fail("connect: errno \(errno)") }
        return descriptor
    }

    private func address(last: UInt32, port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = (0x7f00_0000 | last).bigEndian
        return address
    }

    private func with(_ address: sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

/// Frees a ticket from `Connection.takeSession`.
func freeSession(_ session: OpaquePointer) { SSL_SESSION_free(session) }
