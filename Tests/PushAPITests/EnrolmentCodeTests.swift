// SPDX-License-Identifier: Apache-2.0

@testable import PushAPI
import TestSupport
import Testing

@Suite struct EnrolmentCodeTests {
    private let fingerprint = (0..<32).map { UInt8($0 * 7) }

    @Test func `the authority is the first 120 bits of its fingerprint in base 32`() {
        // python3 -c 'n=int.from_bytes(bytes(i*7 for i in range(15)),"big");print(*(n>>s&31 for s in
        // range(115,-1,-5)))'
        let values: [Int] = [
            0, 0, 3, 16, 28, 5, 8, 28, 4, 12, 21, 3, 2, 14, 1, 31, 8, 25, 6, 21, 8, 22, 27, 2,
        ]
        let digits = String(decoding: values.map { EnrolmentCode.alphabet[$0] }, as: UTF8.self)
        #expect(EnrolmentCode.authority(fingerprint: fingerprint) == digits)
        let full = [UInt8](repeating: 0xFF, count: 32)
        #expect(EnrolmentCode.authority(fingerprint: full) == String(repeating: "Z", count: 24))
    }

    @Test func `a code survives writing and reading, with its authority and without`() throws {
        for code in [
            EnrolmentCode(secret: "K7QM2XHD9FPT", authorityFingerprint: nil),
            EnrolmentCode(secret: "K7QM2XHD9FPT", authorityFingerprint: fingerprint),
        ] {
            #expect(EnrolmentCode(typed: code.text) == code)
            #expect(EnrolmentCode(typed: " \(code.text.lowercased().replacing("-", with: " "))\n") == code)
            #expect(code.text.split(separator: "-").allSatisfy { $0.count == 4 })
        }
        let whole = EnrolmentCode(secret: "K7QM2XHD9FPT", authorityFingerprint: fingerprint)
        #expect(whole.text.hasPrefix("K7QM-2XHD-9FPT-") && whole.text.split(separator: "-").count == 9)
    }

    @Test func `look-alike characters are read as the digits that they resemble`() {
        #expect(EnrolmentCode(typed: "oil0-1234-5678")?.secret == "011012345678")
    }

    @Test(arguments: [
        "", "K7QM", "K7QM-2XHD-9FP", "K7QM-2XHD-9FPTX", "K7QM-2XHD-9FPU", "K7QM-2XHD-9FP!", "K7QM-2XHD-9FPÄ",
        String(repeating: "0", count: 35), String(repeating: "0", count: 37), String(repeating: "0", count: 35) + "U",
    ])
    func `any other text is not a valid code`(typed: String) { #expect(EnrolmentCode(typed: typed) == nil) }
}
