// SPDX-License-Identifier: Apache-2.0

@testable import PayloadLint
import PushCore
import TestSupport
import Testing

struct PayloadAdviceTests {
    private func advice(_ payload: [UInt8]) throws -> String {
        do throws(JSONError) {
            try JSONValidator.validateObject(payload.span)
        } catch {
            return PayloadAdvice.sentence(for: error, in: payload.span)
        }
        throw IsGoodJSON()
    }

    private struct IsGoodJSON: Error {}

    @Test(arguments: [
        (
            #"{"aps":{"alert":"Hi}}"#,
            "byte 21 (line 1, column 22), in aps.alert: the string that begins at byte 16 has no closing quote"
        ),
        (
            #"{"aps":{"alert":{"body":"Hi}}}"#,
            "in aps.alert.body: the string that begins at byte 24 has no closing quote"
        ),
        (
            #"{"aps":{"alert":"Hi"}"#,
            "byte 21 (line 1, column 22): the object that begins at byte 0 has no closing brace"
        ),
        (#"{"aps":{"badge":3"#, "in aps.badge: the object that begins at byte 7 has no closing brace"),
        (#"{"x":[1,2"#, "byte 9 (line 1, column 10): the array that begins at byte 5 has no closing bracket"),
        (#"{"aps":"#, "in aps: expected a value after the colon"), (#"{"aps":1,"#, "the payload ends after a comma"),
        ("", "byte 0 (line 1, column 1): the payload is empty; send one JSON object, at least {}"),
        (" \n", "byte 2 (line 2, column 1): the payload is empty"),
        ("{\"aps\":{\"alert\":\"Hi\n\"}}", "the string that begins at byte 16 has no closing quote on its line"),
        ("{\"aps\":{\"alert\":\"a\tb\"}}", "write a tab in a string as \\t"),
        ("{\"aps\":\"a\u{1}b\"}", "write a control character in a string as \\u"),
        (#"{"aps":{"alert":Hi}}"#, "byte 16 (line 1, column 17), in aps.alert: a string needs double quotes"),
        (#"{"aps":{"alert":'Hi'}}"#, "a string needs double quotes, not single quotes"),
        (#"{"aps":{"alert":“Hi”}}"#, "a string needs straight double quotes"),
        (#"{"aps":{"badge":+1}}"#, "in aps.badge: a number cannot have a plus sign"),
        (#"{"aps":{"badge":.5}}"#, "a number must begin with a digit"),
        (#"{"aps":{"badge":-}}"#, "expected a digit"),
        (#"{"aps":{"badge":03}}"#, "a number cannot have leading zeros"),
        (#"{"aps":{"badge":}}"#, "expected a value before the closing bracket"),
        (#"{"aps":{"badge":,"a":1}}"#, "expected a value before the comma"),
        (#"{"a":[1,]}"#, "remove the comma before the closing bracket"),
        (#"{"a":True}"#, "a string needs double quotes; only numbers, true, false and null have none"),
        (#"{"a":/* x */1}"#, "JSON has no comments"), (#"{"a":1 // x"#, "JSON has no comments"),
        (#"{"a":1,// x"#, "JSON has no comments"), (#"{"a":;}"#, "expected a value"),
        (#"{"aps":{"badge":1,}}"#, "in aps: remove the comma before the closing brace"),
        (#"{'aps':1}"#, "a name needs double quotes, not single quotes"),
        (#"{aps:1}"#, "expected a name in double quotes"),
        (#"{“aps”:1}"#, "a name needs straight double quotes"), (#"{"aps" 1}"#, "expected a colon between"),
        (#"{"aps":{"alert":"Hi" "badge":1}}"#, "expected a comma before this"),
        (
            #"{"aps":{"alert":"say "Hi""}}"#,
            "in aps.alert: the string that begins at byte 16 ended before this: its closing quote is missing, or a quote"
        ),
        (#"{"aps":{"alert":"Hi,"badge":3}}"#, "in aps.alert: the string that begins at byte 16 ended before this"),
        (#"{"aps":[1}"#, "the array that begins at byte 7 has no closing bracket"),
        (#"{"aps":{"a":1]}"#, "the object that begins at byte 7 has no closing brace"),
        (#"{"aps":1 2}"#, "expected a comma or the closing bracket"),
        (#"{"aps":"\x"}"#, "invalid escape sequence"), (#"{"aps":"\ud800"}"#, "unpaired surrogate"),
        ("{}}", "extra closing brace"), ("{} {}", "unexpected text after the end of the object"),
        ("[]", "the payload is an array, but must be an object"), (#""x""#, "the payload is a string"),
        ("hello", "the payload must be one JSON object"), ("\u{FEFF}{}", "begins with a byte order mark"),
        (
            "{\n  \"aps\": {\n    \"ä\": 1\n    \"b\": 2}}",
            "byte 29 (line 4, column 5), in aps: expected a comma before this"
        ),
        ("{\"é\":x}", "byte 6 (line 1, column 6): a string needs double quotes"),

        (#"{"a":"# + String(repeating: "[", count: 64), "arrays and objects are nested more than 64 deep"),
    ])
    func `an error names its place and a remedy`(payload: String, expected: String) throws {
        let sentence = try advice(bytes(payload))
        #expect(sentence.contains(expected), "\(sentence)")
        #expect(sentence.hasPrefix("byte "))
    }

    @Test func `compressed bytes and bytes that are not UTF-8 are recognized`() throws {
        #expect(try advice(bytes("{\"a\":\"") + [0xFF, 0x22, 0x7D]).contains("invalid UTF-8"))
        #expect(try advice([0x1F, 0x8B, 0x08]).contains("compressed"))
    }

    @Test func `advice repeats nothing of the payload, however it is cut or changed`() throws {
        let payload = bytes(
            #"{"aps":{"alert":{"title":"ZEBRA","body":"ZEBRA \"ZEBRA\""},"ZEBRA":[1,{"ZEBRA":"ZEBRA"}]}}"#)
        var count = 0
        for seed in seeds {
            var generator = SeededGenerator(seed: seed)
            var changed = payload
            changed[Int.random(in: changed.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            changed.removeLast(Int.random(in: 0...40, using: &generator))
            // Changing a byte of a text may leave valid JSON, which needs no advice.
            let sentence: String
            do { sentence = try advice(changed) } catch is IsGoodJSON { continue }
            count += 1
            #expect(sentence.utf8.count <= 200 && sentence.utf8.allSatisfy { 0x20...0x7E ~= $0 }, "seed \(seed)")
            #expect(!sentence.contains("ZEBR") && !sentence.contains("EBRA"), "seed \(seed)")
        }
        #expect(count > seeds.count / 2, "most changes must break the payload: \(count)")
    }

    @Test(arguments: [Int.min, -1, 0, 3, 1000, .max])
    func `an error with an offset of other bytes gives short advice without a crash`(offset: Int) {
        for problem in JSONError.Problem.allCases {
            for payload in ["", "{}", "{\"a\":\"", "]]]", "{\"\\"] {
                let error = JSONError(offset: offset, problem: problem)
                let text = bytes(payload)
                #expect(PayloadAdvice.sentence(for: error, in: text.span).utf8.count <= 200)
            }
        }
    }

    @Test func `a place is given as line and column of an editor`() {
        let text = bytes("{\r\n  \"é\": x\r\n}")
        let position = PayloadAdvice.position(of: 11, in: text.span)
        #expect(position.line == 2 && position.column == 8 && position.lineRange == 3..<12)
        let none: [UInt8] = []
        let start = PayloadAdvice.position(of: 7, in: none.span)
        #expect(start.line == 1 && start.column == 1 && start.lineRange.isEmpty)
    }
}
