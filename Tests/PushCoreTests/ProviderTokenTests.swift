// SPDX-License-Identifier: Apache-2.0

@testable import PushCore
import TestSupport
import Testing

struct ProviderTokenTests {
    private static let header = #"{"alg":"ES256","kid":"ABC123DEFG"}"#
    private static let claims = #"{"iss":"DEF123GHIJ","iat":1790000000}"#

    // MARK: The authorization field

    @Test(
        arguments: [
            ("bearer a.b.c", 7..<12), ("Bearer a.b.c", 7..<12), ("BEARER a", 7..<8), ("bearer   a", 9..<10),
            ("bearer \t a", 9..<10),
            ("bearer a ", 7..<9), ("bearer a\t", 7..<9), ("bearer a b", 7..<10), ("bearer", nil), ("bearer ", nil),
            ("bearer \t ", nil),
            ("bearera.b.c", nil),
            ("basic abc", nil), ("", nil), (" bearer a", nil), ("beare a", nil), ("bearer=a", nil),
            ("bearer\u{A0}a", nil),
        ] as [(String, Range<Int>?)])
    func `the compact token follows the scheme and spaces`(value: String, range: Range<Int>?) {
        #expect(ProviderToken.compactToken(inAuthorization: bytes(value)) == range)
    }

    // MARK: Tokens that clients send

    @Test func `a token names its issuer, key, time and algorithm`() throws {
        let compact = compact(Self.header, Self.claims)
        let token = try #require(ProviderToken(compact: compact))
        #expect(token.keyID == "ABC123DEFG")
        #expect(token.teamID == "DEF123GHIJ")
        #expect(token.issuedAt.unixSeconds == 1_790_000_000)
        #expect(token.algorithm == .es256)
        #expect(token.signature == Array(0..<64))
        #expect(compact[token.signedByteCount] == UInt8(ascii: "."))
        #expect(!compact[(token.signedByteCount + 1)...].contains(UInt8(ascii: ".")))
    }

    @Test(arguments: [
        #"{"typ":"JWT","alg":"ES256","kid":"ABC123DEFG","jku":"https://example.org"}"#,
        "{\n  \"alg\" : \"ES256\",\n  \"kid\" : \"ABC123DEFG\"\n}\n", #"{"alg":"\u0045S256","kid":"ABC123DEFG"}"#,
        #"{"alg":"ES512","kid":"ABC123DEFG"}"#, #"{"typ":1,"typ":2,"alg":"ES256","kid":"0123456789"}"#,
    ])
    func `a header with other members, whitespace and escapes is accepted`(header: String) {
        #expect(ProviderToken(compact: compact(header, Self.claims)) != nil)
    }

    @Test(
        arguments: [
            ("1790000000", 1_790_000_000), ("1790000000.0", 1_790_000_000), ("1790000000.999", 1_790_000_000),
            ("1.79e9", 1_790_000_000), (#""1790000000""#, 1_790_000_000), ("0", 0), ("-0", 0), ("0.5", 0),
            ("1000000000000", 1_000_000_000_000),
        ] as [(String, Int64)])
    func `the issue time is an integer, a float or a string of digits`(moment: String, seconds: Int64) {
        let claims = #"{"iat":\#(moment),"iss":"DEF123GHIJ","kid":"ABC123DEFG","exp":1}"#
        #expect(ProviderToken(compact: compact(Self.header, claims))?.issuedAt.unixSeconds == seconds)
    }

    @Test func `parts in standard base64 with padding are decoded, and verified as received`() throws {
        // These claims encode to a digit that the other alphabet lacks, and to a length that needs padding.
        let claims = #"{"iss":"DEF123GHIJ","iat":1790000000,"a":"???>>>"}"#
        let parts = [Self.header, claims].map { Base64.encode(bytes($0)) }
        #expect(parts[1].contains(UInt8(ascii: "/")) || parts[1].contains(UInt8(ascii: "+")))
        #expect(parts[0].last == UInt8(ascii: "="))
        let signed = parts[0] + bytes(".") + parts[1]
        let token = try #require(ProviderToken(compact: (signed + bytes(".MEUCIQ=="))))
        #expect(token.signedByteCount == signed.count)
        #expect(token.signature == [0x30, 0x45, 0x02, 0x21])
    }

    // MARK: Refused tokens

    @Test(arguments: [
        #"{"alg":"none","kid":"ABC123DEFG"}"#, #"{"alg":"HS256","kid":"ABC123DEFG"}"#,
        #"{"alg":"RS256","kid":"ABC123DEFG"}"#,
        #"{"alg":"ES384","kid":"ABC123DEFG"}"#, #"{"alg":"es256","kid":"ABC123DEFG"}"#,
        #"{"alg":256,"kid":"ABC123DEFG"}"#,
        #"{"kid":"ABC123DEFG"}"#, #"{"alg":"ES256"}"#, #"{"alg":"ES256","kid":"ABC123DEF"}"#,
        #"{"alg":"ES256","kid":"ABC123DEFGH"}"#, #"{"alg":"ES256","kid":"abc123defg"}"#,
        #"{"alg":"ES256","kid":"ABC123DE/G"}"#,
        #"{"alg":"ES256","kid":"ABC123DEÉ"}"#, #"{"alg":"ES256","kid":"../../../x"}"#,
        #"{"alg":"ES256","kid":1234567890}"#,
        #"{"alg":"ES256","kid":"ABC123DEFG","crit":["exp"]}"#, #"{"alg":"ES256","kid":"ABC123DEFG","crit":null}"#,
        #"{"alg":"ES256","alg":"ES256","kid":"ABC123DEFG"}"#, #"{"alg":"none","\u0061lg":"ES256","kid":"ABC123DEFG"}"#,
        #"{"alg":"ES256","kid":"ABC123DEFG","kid":"ABC123DEFG"}"#, #"["ES256"]"#, "", "null", "{",
        #"{"alg":"ES256","kid":"ABC123DEFG",}"#, #"{"alg":"ES256","kid":"ABC123DEFG"}x"#,
    ])
    func `a header without a valid key ID or algorithm is refused`(header: String) {
        #expect(ProviderToken(compact: compact(header, Self.claims)) == nil)
    }

    @Test(arguments: [
        #"{"iat":1790000000}"#, #"{"iss":"DEF123GHIJ"}"#, #"{"iss":"DEF123GHI","iat":1790000000}"#,
        #"{"iss":"DEF123GHIJK","iat":1790000000}"#, #"{"iss":"def123ghij","iat":1790000000}"#,
        #"{"iss":null,"iat":1790000000}"#,
        #"{"iss":"DEF123GHIJ","iss":"DEF123GHIJ","iat":1790000000}"#,
        #"{"iss":"DEF123GHIJ","iat":1790000000,"iat":1790000000}"#, #"{"iss":"DEF123GHIJ","iat":null}"#,
        #"{"iss":"DEF123GHIJ","iat":true}"#, #"{"iss":"DEF123GHIJ","iat":""}"#, #"{"iss":"DEF123GHIJ","iat":"+1"}"#,
        #"{"iss":"DEF123GHIJ","iat":"1790000000.5"}"#, #"{"iss":"DEF123GHIJ","iat":"2026-11-21"}"#,
        #"{"iss":"DEF123GHIJ","iat":-1}"#, #"{"iss":"DEF123GHIJ","iat":-0.5}"#,
        #"{"iss":"DEF123GHIJ","iat":1000000000001}"#,
        #"{"iss":"DEF123GHIJ","iat":1e300}"#, #"{"iss":"DEF123GHIJ","iat":1e999}"#,
        #"{"iss":"DEF123GHIJ","iat":9223372036854775808}"#,
        #"{"iss":"DEF123GHIJ","iat":[1790000000]}"#, "[]", "", "{}",
    ])
    func `claims without a valid team and time are refused`(claims: String) {
        #expect(ProviderToken(compact: compact(Self.header, claims)) == nil)
    }

    @Test func `any other number of parts than three is refused`() {
        let whole = compact(Self.header, Self.claims)
        let parts = whole.split(separator: UInt8(ascii: "."))
        #expect(ProviderToken(compact: whole) != nil)
        #expect(ProviderToken(compact: Array(parts[0])) == nil)
        #expect(ProviderToken(compact: Array(parts[0] + bytes(".") + parts[1])) == nil)
        #expect(ProviderToken(compact: (whole + bytes("."))) == nil)
        #expect(ProviderToken(compact: (whole + bytes(".AAAA"))) == nil)
        #expect(ProviderToken(compact: (bytes(".") + whole)) == nil)
    }

    @Test(arguments: ["", "A", "AB", "A B", "AA==AA==", "AAAA\n", "!"])
    func `a signature that is empty or not base64 is refused`(signature: String) {
        let signed = compact(Self.header, Self.claims).prefix { $0 != UInt8(ascii: ".") }
        let claims = Base64.encodeURL(bytes(Self.claims))
        let token = Array(signed) + bytes(".") + claims + bytes("." + signature)
        #expect(ProviderToken(compact: token) == nil)
    }

    @Test func `a token up to the size limit is accepted, and a longer one is refused`() {
        let start = compact(Self.header, Self.claims, signature: [])
        func isRead(byteCount: Int) -> Bool {
            let signature = [UInt8](repeating: UInt8(ascii: "A"), count: byteCount - start.count)
            // No base64 text has 4n + 1 digits. Such a token would be refused for that reason.
            #expect(signature.count % 4 != 1)
            return ProviderToken(compact: start + signature) != nil
        }
        #expect(isRead(byteCount: Limits.providerTokenByteCountMax))
        #expect(!isRead(byteCount: Limits.providerTokenByteCountMax + 1))
        #expect(!isRead(byteCount: Limits.providerTokenByteCountMax + 2))
    }

    @Test func `a token that is truncated before its signature is refused`() {
        let whole = compact(Self.header, Self.claims)
        let signed = whole.lastIndex(of: UInt8(ascii: ".")) ?? 0
        for count in 0...signed + 1 {
            #expect(ProviderToken(compact: Array(whole[..<count])) == nil)
        }
    }

    private func compact(_ header: String, _ claims: String, signature: [UInt8] = Array(0..<64)) -> [UInt8] {
        let parts = [bytes(header), bytes(claims), signature].map { Base64.encodeURL($0) }
        return Array(parts.joined(separator: bytes(".")))
    }
}
