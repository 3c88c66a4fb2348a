// SPDX-License-Identifier: Apache-2.0
// The signatures that other modules build on; split into one file per type as they are written.

/// What OpenSSL said, with the file or the purpose that it was about.
package enum TLSError: Error, Sendable {
    /// The library's text, read from its error queue at once.
    case library(during: String, text: String)
    /// A file that cannot be read or parsed: what to do about it.
    case badFile(path: String, text: String)
    /// The peer broke the protocol or the connection.
    case peer(String)
}

/// Server side settings of TLS: certificate, versions, ciphers; shared by all connections made with it.
package final class TLSContext: @unchecked Sendable {
    /// TLS 1.2 and 1.3, AEAD only, no renegotiation, compression or early data, one ticket, buffers released when
    /// idle; ALPN selects `h2`, else `http/1.1`, and goes on without when the peer offers none of them.
    package init(certificateChainFile: String, privateKeyFile: String) throws(TLSError) {
        preconditionFailure("unwritten")
    }
}

/// One TLS connection over a non-blocking socket, server side; owns one `SSL *`, not the descriptor.
package final class TLSConnection {
    package enum Application: Sendable { case http2, http1, unknown }
    package enum Progress: Sendable { case done, wantsRead, wantsWrite }
    package enum Transfer: Sendable { case bytes(Int), wantsRead, wantsWrite, closed }

    package init(_ context: TLSContext, descriptor: Int32) throws(TLSError) { preconditionFailure("unwritten") }
    package func handshake() throws(TLSError) -> Progress { preconditionFailure("unwritten") }
    /// What ALPN selected; `unknown` when the peer sent none: look at its first bytes.
    package var application: Application { preconditionFailure("unwritten") }
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(TLSError) -> Transfer {
        preconditionFailure("unwritten")
    }
    /// May be called again with a longer buffer that starts with the same bytes (partial write, moving buffer).
    package func write(_ bytes: UnsafeRawBufferPointer) throws(TLSError) -> Transfer { preconditionFailure("unwritten") }
    /// Bytes that are decrypted and wait inside: read again before waiting for the socket.
    package var hasBufferedInput: Bool { preconditionFailure("unwritten") }
    /// Sends close_notify if the connection is still good; does not wait for the peer's.
    package func close() { preconditionFailure("unwritten") }
}

/// Makes and opens device tokens: AES-256-SIV over sixteen bytes. Not Sendable: one per loop.
package final class TokenCipher {
    /// Keys of 64 bytes, newest first: the first seals, all open.
    package init(keys: [[UInt8]]) throws(TLSError) { preconditionFailure("unwritten") }
    /// 16 bytes in, 32 out, deterministic.
    package func seal(_ plaintext: InlineArray<16, UInt8>) -> InlineArray<32, UInt8> { preconditionFailure("unwritten") }
    /// 32 bytes in; nil when no key opens it.
    package func open(_ ciphertext: InlineArray<32, UInt8>) -> InlineArray<16, UInt8>? { preconditionFailure("unwritten") }
}

/// A P-256 public key that verifies provider tokens.
package final class VerifyingKey: @unchecked Sendable {
    /// SubjectPublicKeyInfo in DER.
    package init(der: [UInt8]) throws(TLSError) { preconditionFailure("unwritten") }
    package enum Digest: Sendable { case sha256, sha512 }
    /// The signature is raw R‖S (64 bytes; 132 for ES512 as pushok sends it) or ASN.1 DER.
    package func verifies(_ signature: Span<UInt8>, over message: Span<UInt8>, digest: Digest) -> Bool {
        preconditionFailure("unwritten")
    }
}

/// A P-256 private key that signs provider tokens.
package final class PrivateKey: @unchecked Sendable {
    /// Makes a new one.
    package init() throws(TLSError) { preconditionFailure("unwritten") }
    /// PKCS#8 PEM, as in a .p8 file.
    package init(pem: [UInt8]) throws(TLSError) { preconditionFailure("unwritten") }
    /// PKCS#8 PEM.
    package var pem: [UInt8] { preconditionFailure("unwritten") }
    /// SubjectPublicKeyInfo in DER.
    package var publicKeyDER: [UInt8] { preconditionFailure("unwritten") }
    /// ECDSA with SHA-256, raw R‖S, 64 bytes.
    package func sign(_ message: Span<UInt8>) throws(TLSError) -> [UInt8] { preconditionFailure("unwritten") }
}

/// SHA-256.
package enum SHA256 {
    /// 32 bytes.
    package static func hash(_ bytes: Span<UInt8>) -> [UInt8] { preconditionFailure("unwritten") }
}

/// The operating system's randomness, through OpenSSL.
package enum SecureRandom {
    package static func bytes(count: Int) -> [UInt8] { preconditionFailure("unwritten") }
    package static func uint64() -> UInt64 { preconditionFailure("unwritten") }
}

/// The server's private certificate authority.
package struct CertificateAuthority {
    /// Makes key and self-signed P-256 certificate (10 years): PEM texts.
    package static func make(commonName: String) throws(TLSError) -> (certificate: [UInt8], privateKey: [UInt8]) {
        preconditionFailure("unwritten")
    }
    /// Makes a server certificate (397 days, subjectAltName with DNS names and IP addresses, serverAuth): PEM texts.
    package static func issueServerCertificate(
        names: [String], authorityCertificate: [UInt8], authorityPrivateKey: [UInt8]
    ) throws(TLSError) -> (certificate: [UInt8], privateKey: [UInt8]) { preconditionFailure("unwritten") }
    /// Seconds until a PEM certificate expires; negative when it has.
    package static func secondsUntilExpiry(certificate: [UInt8]) throws(TLSError) -> Int64 {
        preconditionFailure("unwritten")
    }
}

/// The versions found at run time, and the floor below which a server must not start (spec: patched libraries).
package enum LibraryVersion {
    package static var openSSL: (number: UInt, text: String) { preconditionFailure("unwritten") }
}

extension TLSError: CustomStringConvertible {
    package var description: String { preconditionFailure("unwritten") }
}
