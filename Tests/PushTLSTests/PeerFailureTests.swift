// SPDX-License-Identifier: Apache-2.0

@testable import PushTLS
import Testing

@Suite struct PeerFailureTests {
    /// The codes as OpenSSL prints them: `openssl errstr 0A00045C`.
    @Test(
        arguments: [
            (0x0A00_010B, PeerFailure.notTLS), (0x0A00_0126, .disconnected), (0x0A00_045C, .certificateRequired),
            (0x0A00_0418, .certificateRefused), (0x0A00_0410, .handshakeRefused), (0x0A00_0086, nil),
            (0x0909_006C, nil),
            (0, nil),
        ] as [(UInt, PeerFailure?)])
    func `an error code of OpenSSL tells what the peer did`(code: UInt, failure: PeerFailure?) {
        #expect(PeerFailure(errorCode: code) == failure)
    }
}
