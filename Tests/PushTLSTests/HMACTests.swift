// SPDX-License-Identifier: Apache-2.0

@testable import PushTLS
import Testing

@Suite struct HMACTests {
    /// RFC 4231, sections 4.2, 4.3, 4.4 and 4.7.
    ///
    /// The last key is longer than a block.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func `an HMAC matches its published value`(key: [UInt8], message: [UInt8], expected: String) {
        #expect(hexadecimal(HMAC.sha256(message.span, key: key.span)) == expected)
    }

    /// The value is from: printf '' | openssl mac -digest SHA256 -macopt key:key HMAC.
    @Test func `an empty message has an HMAC too`() {
        let code = HMAC.sha256([UInt8]().span, key: Array("key".utf8).span)
        #expect(hexadecimal(code) == "5d5d139563c95b5967b9bd9a8c9b233a9dedb45072794cd232dc1b74832607d0")
    }
}
