// SPDX-License-Identifier: Apache-2.0

@testable import PushHTTP
import Testing

struct ProtocolDetectorTests {
    @Test func `every prefix of the preface needs more bytes, and the whole is HTTP 2`() {
        for count in 0..<24 {
            let bytes = Array(Peer.preface.prefix(count))
            #expect(ProtocolDetector.look(at: bytes.span) == .needsMore, "\(count) bytes")
        }
        let (whole, more) = (Peer.preface, Peer.preface + [0])
        #expect(ProtocolDetector.look(at: whole.span) == .http2)
        #expect(ProtocolDetector.look(at: more.span) == .http2)
    }

    @Test func `a byte that differs anywhere in the preface is HTTP 1`() {
        for index in 0..<24 {
            var bytes = Peer.preface
            bytes[index] ^= 0x20
            #expect(ProtocolDetector.look(at: bytes.span) == .http1, "byte \(index)")
            let beginning = Array(bytes[...index])
            #expect(ProtocolDetector.look(at: beginning.span) == .http1, "byte \(index)")
        }
    }
}
