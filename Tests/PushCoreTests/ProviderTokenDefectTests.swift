// SPDX-License-Identifier: Apache-2.0

@testable import PushCore
import Testing

struct ProviderTokenDefectTests {
    private static let header = #"{"alg":"ES256","kid":"ABC123DEFG"}"#
    private static let claims = #"{"iss":"DEF123GHIJ","iat":1790000000}"#

    private static func token(_ header: String, _ claims: String, _ signature: String = "AAAA") -> String {
        [header, claims].map { String(decoding: Base64.encodeURL(Array($0.utf8).span), as: UTF8.self) }
            .joined(separator: ".") + "." + signature
    }

    @Test(
        arguments: [
            ("abc", "three parts"), ("a.b.c.d", "three parts"), ("", "three parts"), ("!.b.c", "header is not a JSON"),
            (token("[]", claims), "header is not a JSON"),
            (token(#"{"kid":"ABC123DEFG"}"#, claims), "alg is not ES256"),
            (token(#"{"alg":"none","kid":"ABC123DEFG"}"#, claims), "alg is not ES256"),
            (token(#"{"alg":"ES256"}"#, claims), "kid is missing"),
            (token(#"{"alg":"ES256","kid":"abc123defg"}"#, claims), "kid is missing"),
            (token(#"{"alg":"ES256","kid":"ABC123DEFG","crit":[]}"#, claims), "crit"),
            (token(header, "x"), "claims are not a JSON"), (token(header, "{}"), "iss is missing"),
            (token(header, #"{"iss":"DEF123GHIJ"}"#), "iat is missing"),
            (token(header, #"{"iss":"DEF123GHIJ","iat":"soon"}"#), "iat is not a number"),
            (token(header, #"{"iss":"DEF123GHIJ","iat":1,"iat":2}"#), "twice"),
            (token(header, claims, "?"), "signature is not base64"),
            (String(repeating: "a", count: 5000), "at most 2048"),
        ])
    func `a defect is named without repeating the token`(compact: String, words: String) {
        let bytes = Array(compact.utf8)
        #expect(ProviderToken(compact: bytes.span) == nil)
        let defect = ProviderToken.defect(in: bytes.span)
        #expect(defect.contains(words), "\(defect)")
        #expect(defect.utf8.allSatisfy { (0x20...0x7E).contains($0) } && !defect.contains("ABC123DEFG"))
    }
}
