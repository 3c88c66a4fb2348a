// SPDX-License-Identifier: Apache-2.0

import Glibc
@testable import PushTLS
import TestSupport
import Testing

@Suite struct TLSHandshakeTests {
    private let certificates: TestCertificates
    private let context: TLSContext

    init() throws {
        certificates = try TestCertificates()
        context = try certificates.context()
    }

    private func peer(_ arguments: [String], isQuiet: Bool = true) throws -> OpenSSLPeer {
        try OpenSSLPeer(context, certificates, arguments, isQuiet: isQuiet)
    }

    @Test(arguments: [
        (["-tls1_3"], "New, TLSv1.3, Cipher is TLS_AES_128_GCM_SHA256"),
        (["-tls1_3", "-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256"], "Cipher is TLS_CHACHA20_POLY1305_SHA256"),
        (["-tls1_2"], "New, TLSv1.2, Cipher is ECDHE-ECDSA-AES128-GCM-SHA256"),
        (["-tls1_3"], "Server Temp Key: X25519"),
        (["-tls1_3", "-groups", "P-256"], "Server Temp Key: ECDH, prime256v1"),
        (["-tls1_2"], "Compression: NONE"),
        (["-tls1_3", "-verify_hostname", "localhost"], "Verify return code: 0 (ok)"),
        (["-tls1_3", "-verify_ip", "127.0.0.1"], "Verify return code: 0 (ok)"),
    ])
    func `a current peer gets the strongest common settings`(arguments: [String], shown: String) async throws {
        let peer = try peer(arguments, isQuiet: false)
        try peer.connection.handshake()
        peer.process.endInput()
        try await peer.waitForOutput(shown)
        try await #expect(peer.process.waitForExit() == .code(0))
    }

    @Test(arguments: [
        ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"],
        ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA256"],
        ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES256-CCM8:@SECLEVEL=0"],
        ["-tls1_3", "-groups", "P-384"],
        ["-tls1_3", "-verify_hostname", "elsewhere.example.org"],
        ["-tls1_2", "-verify_ip", "127.0.0.2"],
    ])
    func `a peer with weaker settings or another server name fails the handshake`(arguments: [String]) async throws {
        let peer = try peer(arguments)
        #expect {
            try peer.connection.handshake()
            // With TLS 1.3 the server finishes before the peer has verified the certificate.
            _ = try peer.connection.read()
        } throws: { error in
            guard case TLSError.peer = error else { return false }
            return true
        }
        try await #expect(peer.process.waitForExit() == .code(1))
    }

    @Test(arguments: [
        (["-alpn", "h2"], TLSConnection.Application.http2),
        (["-alpn", "http/1.1,h2"], .http2),
        (["-alpn", "spdy/3,h2,http/1.1"], .http2),
        (["-alpn", "http/1.1"], .http1),
        (["-alpn", "http/1.0,http/1.1"], .http1),
        (["-alpn", "spdy/3"], .unknown),
        (["-alpn", "h2c"], .unknown),
        ([], .unknown),
        (["-tls1_2", "-alpn", "h2"], .http2),
        (["-tls1_2", "-alpn", "spdy/3"], .unknown),
    ])
    func `the application protocol is h2, else http 1_1, else left open`(
        arguments: [String], application: TLSConnection.Application
    ) async throws {
        let peer = try peer(arguments)
        try peer.connection.handshake()
        #expect(peer.connection.tls.application == application)
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "http request"),
        ("\u{0}\u{1}\u{2}\u{3}\u{4}\u{5}", "wrong version number"),
        ("SSH-2.0-OpenSSH_9.2\r\n", "wrong version number"),
    ])
    func `plaintext input is reported as the peer's error`(bytes: String, reason: String) throws {
        let listener = try TestListener()
        let client = try listener.connectPlainly()
        defer { close(client) }
        let connection = try TestConnection(context, adopting: listener.accept())
        #expect(unsafe write(client, bytes, bytes.utf8.count) == bytes.utf8.count)
        #expect(throws: TLSError.peer(reason)) { try connection.handshake() }
        #expect(throws: TLSError.peer("the connection is closed")) { try connection.handshake() }
    }

    @Test func `a peer that leaves before sending anything is an error`() throws {
        let listener = try TestListener()
        close(try listener.connectPlainly())
        let connection = try TestConnection(context, adopting: listener.accept())
        #expect {
            try connection.handshake()
        } throws: { error in
            guard case TLSError.peer = error else { return false }
            return true
        }
    }

    @Test func `a handshake waits for a silent peer`() throws {
        let listener = try TestListener()
        let client = try listener.connectPlainly()
        defer { close(client) }
        let connection = try TestConnection(context, adopting: listener.accept())
        #expect(try connection.tls.handshake() == .wantsRead)
    }

    @Test func `an error on one connection does not affect another one on the thread`() async throws {
        let good = try peer([])
        try good.connection.handshake()
        let listener = try TestListener()
        let client = try listener.connectPlainly()
        defer { close(client) }
        let bad = try TestConnection(context, adopting: listener.accept())
        #expect(unsafe write(client, "garbage, garbage", 16) == 16)
        #expect(throws: TLSError.self) { try bad.handshake() }
        var buffer: [UInt8] = [0]
        let transfer = try unsafe buffer.withUnsafeMutableBytes { try unsafe good.connection.tls.read(into: $0) }
        #expect(transfer == .wantsRead)
        try good.process.write("still here\n")
        #expect(try good.connection.read(exactly: 11) == Array("still here\n".utf8))
    }

    @Test func `a peer gets exactly one ticket, and resumes with it`() async throws {
        let session = certificates.directory.path(of: "session.pem")
        let first = try peer(["-tls1_3", "-msg", "-sess_out", session], isQuiet: false)
        try first.connection.handshake()
        // The ticket follows the handshake, and an answer makes the peer read it.
        try first.connection.write(Array("answer\n".utf8))
        try await first.waitForOutput("answer")
        first.process.endInput()
        try await first.process.waitForExit()
        #expect(first.process.output.split(separator: "], NewSessionTicket").count == 2)

        let second = try peer(["-tls1_3", "-sess_in", session], isQuiet: false)
        try second.connection.handshake()
        try await second.waitForOutput("Reused, TLSv1.3")
    }

    @Test func `early data is refused, and the handshake continues without it`() async throws {
        let session = certificates.directory.path(of: "session.pem")
        let first = try peer(["-tls1_3", "-sess_out", session], isQuiet: false)
        try first.connection.handshake()
        try first.connection.write(Array("answer\n".utf8))
        try await first.waitForOutput("answer")
        first.process.endInput()
        try await first.process.waitForExit()
        #expect(first.process.output.contains("Max Early Data: 0"))

        let early = try certificates.directory.write("early", to: "early")
        let second = try peer(["-tls1_3", "-sess_in", session, "-early_data", early], isQuiet: false)
        try second.connection.handshake()
        try await second.waitForOutput("Early data was not sent")
    }

    @Test func `renegotiation is refused, and the connection continues`() async throws {
        let peer = try peer(["-tls1_2"], isQuiet: false)
        try peer.connection.handshake()
        try peer.process.write("R\n")
        var buffer: [UInt8] = [0]
        // The peer requests it, gets a warning and gives up. Either end may notice first.
        try await eventually("the renegotiation ended", evidence: { peer.process.transcript }) {
            do {
                _ = try unsafe buffer.withUnsafeMutableBytes { try unsafe peer.connection.tls.read(into: $0) }
            } catch {
                return true
            }
            return peer.process.errorOutput.contains("no renegotiation")
        }
        try await eventually("the peer heard the refusal", evidence: { peer.process.transcript }) {
            peer.process.errorOutput.contains("no renegotiation")
        }
    }
}
