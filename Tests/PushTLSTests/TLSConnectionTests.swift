// SPDX-License-Identifier: Apache-2.0

import Glibc
@testable import PushTLS
import TestSupport
import Testing

@Suite struct TLSConnectionTests {
    private let certificates: TestCertificates
    private let context: TLSContext

    init() throws {
        certificates = try TestCertificates()
        context = try certificates.context()
    }

    /// Starts a peer and completes the handshake.
    private func openPeer(_ arguments: [String] = []) throws -> OpenSSLPeer {
        let peer = try OpenSSLPeer(context, certificates, arguments)
        try peer.connection.handshake()
        return peer
    }

    /// Returns lines of text that are all different.
    private func lines(byteCount: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var number = 0
        while bytes.count < byteCount {
            bytes += "line \(number) of a long text that does not repeat itself\n".utf8
            number += 1
        }
        return bytes
    }

    @Test(arguments: ["-tls1_3", "-tls1_2"], [Int.max, 100_000])
    func `megabytes arrive whole although the socket accepts only parts`(
        version: String, firstByteCount: Int
    ) async throws {
        let peer = try openPeer([version])
        let sent = lines(byteCount: 4 << 20)
        // A stopped peer reads nothing, so our socket buffer fills and writes must be repeated.
        peer.process.send(SIGSTOP)
        var block = Array(sent.prefix(1 << 20))
        var offset = 0
        fill: while true {
            switch try unsafe block.withUnsafeBytes({ try unsafe peer.connection.tls.write($0) }) {
            case .bytes(let count):
                offset += count
                block = Array(sent[offset...].prefix(1 << 20))
            case .wantsWrite: break fill
            case .wantsRead, .closed:
                Issue.record("an unexpected result of a write")
                return
            }
            try #require(offset < sent.count, "the socket never filled")
        }
        peer.process.send(SIGCONT)
        // The repeated write must offer at least as many bytes as before.
        try peer.connection.write(Array(sent[offset...]), firstByteCount: max(firstByteCount, block.count))
        peer.connection.tls.close()
        try await peer.process.waitForExit()
        #expect(peer.process.output == text(sent))
    }

    @Test(arguments: [1, 16_384, 16_385, 300_000])
    func `the peer's data arrives whole with a buffer of any size`(bufferByteCount: Int) async throws {
        let peer = try openPeer()
        let sent = lines(byteCount: bufferByteCount == 1 ? 20_000 : 200_000)
        try peer.process.write(text(sent))
        var received: [UInt8] = []
        while received.count < sent.count, let next = try peer.connection.read(byteCountMax: bufferByteCount) {
            received += next
        }
        #expect(received == sent)
    }

    @Test func `bytes in OpenSSL's buffer are announced until they are read`() async throws {
        let peer = try openPeer()
        #expect(!peer.connection.tls.hasBufferedInput)
        try peer.process.write("0123456789")
        #expect(try peer.connection.read(byteCountMax: 4) == Array("0123".utf8))
        #expect(peer.connection.tls.hasBufferedInput)
        #expect(try peer.connection.read(byteCountMax: 6) == Array("456789".utf8))
        var buffer: [UInt8] = [0]
        let transfer = try unsafe buffer.withUnsafeMutableBytes { try unsafe peer.connection.tls.read(into: $0) }
        #expect(transfer == .wantsRead)
        #expect(!peer.connection.tls.hasBufferedInput)
    }

    @Test func `records that arrive together are announced one after the other`() async throws {
        let peer = try openPeer(["-split_send_frag", "512", "-max_send_frag", "512"])
        let sent = lines(byteCount: 2_000)
        try peer.process.write(text(sent))
        var received = try peer.connection.read() ?? []
        while received.count < sent.count {
            // While more bytes are announced, the test does not wait for the socket.
            received += try peer.connection.read() ?? []
        }
        #expect(received == sent)
        #expect(!peer.connection.tls.hasBufferedInput)
    }

    @Test func `a close notifies the peer, and later writes fail`() async throws {
        let peer = try openPeer()
        try peer.connection.write(Array("farewell\n".utf8))
        peer.connection.tls.close()
        peer.connection.tls.close()
        try await #expect(peer.process.waitForExit() == .code(0))
        #expect(peer.process.output == "farewell\n")
        #expect(throws: TLSError.peer("the connection is closed")) { try peer.connection.write([1]) }
        #expect(throws: TLSError.peer("the connection is closed")) { _ = try peer.connection.read() }
    }

    @Test func `a peer's close ends its input, and answers can still be sent`() async throws {
        let peer = try OpenSSLPeer(context, certificates, [], isQuiet: false)
        try peer.connection.handshake()
        try peer.process.write("Q\n")
        #expect(try peer.connection.read() == nil)
        #expect(try peer.connection.read() == nil)
        let bytes: [UInt8] = [1]
        // The peer may be gone, but the kernel reports that later. The first write is accepted.
        #expect(try unsafe bytes.withUnsafeBytes { try unsafe peer.connection.tls.write($0) } == .bytes(1))
    }

    @Test func `a killed peer ends its input, and a write or close does not kill us`() async throws {
        let peer = try openPeer()
        try peer.connection.write(Array("read this\n".utf8))
        // Unread data at the peer would make the kernel reset the connection.
        try await peer.waitForOutput("read this")
        try await peer.process.killNow()
        #expect(try peer.connection.read() == nil)
        #expect(try peer.connection.read() == nil)
        // The peer may have closed only its output, as far as the server knows.
        try peer.connection.write([1])
        peer.connection.tls.close()
        #expect(throws: TLSError.peer("the connection is closed")) { try peer.connection.write([1]) }
    }

    @Test func `writing to a killed peer throws an error and raises no signal`() async throws {
        let peer = try openPeer()
        try await peer.process.killNow()
        let block = [UInt8](repeating: 0, count: 16_384)
        #expect {
            for _ in 0..<1_000 { try peer.connection.write(block) }
        } throws: { error in
            guard case TLSError.peer = error else { return false }
            return true
        }
    }

    @Test func `empty buffers are neither an end nor an error`() throws {
        let peer = try openPeer()
        unsafe #expect(try peer.connection.tls.write(UnsafeRawBufferPointer(start: nil, count: 0)) == .bytes(0))
        let empty = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
        #expect(try unsafe peer.connection.tls.read(into: empty) == .bytes(0))
    }

    @Test func `reading before the end of the handshake stops the process`() async {
        // The files belong to this process, because the process that stops cannot remove them.
        let certificatePath = certificates.certificatePath
        let keyPath = certificates.keyPath
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [certificatePath = certificatePath as String, keyPath = keyPath as String] in
            let listener = try TestListener()
            let client = try listener.connectPlainly()
            let context = try TLSContext(certificateChainFile: certificatePath, privateKeyFile: keyPath)
            let connection = try TestConnection(context, adopting: listener.accept())
            _ = try connection.read()
            close(client)
        }
        let output = text(result?.standardErrorContent ?? [])
        #expect(output.contains("read before the handshake was done"))
    }

    @Test func `a connection outlives its context's other owners`() throws {
        var shortLived: TLSContext? = try certificates.context()
        let peer = try OpenSSLPeer(try #require(shortLived), certificates)
        shortLived = nil
        try peer.connection.handshake()
        try peer.process.write("x")
        #expect(try peer.connection.read(exactly: 1) == Array("x".utf8))
    }
}
