// SPDX-License-Identifier: Apache-2.0

@testable import PushCore
import TestSupport
import Testing

struct JSONValueTests {
    @Test(
        arguments: [
            ("null", .null), ("true", .bool(true)), (" false ", .bool(false)), ("0", .integer(0)), ("-0", .integer(0)),
            ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
            ("9223372036854775808", .number("9223372036854775808")), ("1.0", .number("1.0")), ("1e2", .number("1e2")),
            ("\"\"", .string("")), ("[ ]", .array([])), ("[1 , \"a\"]", .array([.integer(1), .string("a")])),
            ("{ }", .object([])),
            (
                #"{"a":1,"b":{"a":[]},"a":2}"#,
                .object([
                    .init(key: "a", value: .integer(1)),
                    .init(key: "b", value: .object([.init(key: "a", value: .array([]))])),
                    .init(key: "a", value: .integer(2)),
                ])
            ),
        ] as [(String, JSONValue)])
    func `a text is parsed into the expected tree`(text: String, value: JSONValue) throws {
        #expect(try parse(text) == value)
    }

    @Test(arguments: [
        (#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{C}\n\r\t"), (#"\u0041\u00e9\u20AC"#, "Aé€"), (#"\uD83D\uDE00!"#, "😀!"),
        (#"a\u0000b"#, "a\0b"), ("e\u{301}", "e\u{301}"), (#"\u005C\u0022"#, "\\\""),
        (#"x\uDBFF\uDFFF"#, "x\u{10FFFF}"),
        (#"\\u0041"#, #"\u0041"#),
    ])
    func `the escapes of a string are decoded`(text: String, string: String) throws {
        let value = try parse("\"\(text)\"").string
        #expect(value.map { Array($0.utf8) } == bytes(string))
        #expect(try parse("{\"\(text)\":1}").members?.first?.key == string)
    }

    @Test(arguments: JSONCorpus.objects + JSONCorpus.values)
    func `a text that the validator accepts can be parsed`(text: String) throws {
        _ = try parse(text)
    }

    @Test(arguments: JSONCorpus.invalid)
    func `the parser reports the validator's error`(invalid: JSONCorpus.Invalid) {
        #expect(throws: JSONError(offset: invalid.offset, problem: invalid.problem)) {
            try JSONValue(parsing: invalid.text.span)
        }
    }

    @Test func `the last of several members with one name is found`() throws {
        #expect(try parse(#"{"a":1,"a":2,"b":3}"#)["a"] == .integer(2))
    }

    @Test func `names are compared as bytes`() throws {
        let value = try parse("{\"e\u{301}\":1}")
        #expect(value["e\u{301}"] == .integer(1))
        #expect(value["\u{E9}"] == nil)
    }

    @Test(arguments: ["null", "true", "1", "1.5", "\"a\"", "[1]"])
    func `a value that is not an object has no members`(text: String) throws {
        let value = try parse(text)
        #expect(value["a"] == nil)
        #expect(value.members == nil)
    }

    @Test(
        arguments: [
            ("1", 1), ("-1.5", -1.5), ("1e2", 100), ("9223372036854775808", 9_223_372_036_854_775_808), ("1e999", nil),
            ("-1e999", nil), ("\"1\"", nil), ("true", nil), ("null", nil), ("[1]", nil), ("{}", nil),
        ] as [(String, Double?)])
    func `a number is parsed as the nearest Double`(text: String, double: Double?) throws {
        #expect(try parse(text).double == double)
    }

    @Test func `each kind converts only to itself`() throws {
        let values = try parse(#"[null,true,1,1.5,"a",[2],{"b":3}]"#).array ?? []
        #expect(values.map(\.isNull) == [true, false, false, false, false, false, false])
        #expect(values.map(\.bool) == [nil, true, nil, nil, nil, nil, nil])
        #expect(values.map(\.integer) == [nil, nil, 1, nil, nil, nil, nil])
        #expect(values.map(\.string) == [nil, nil, nil, nil, "a", nil, nil])
        #expect(values.map(\.array) == [nil, nil, nil, nil, nil, [.integer(2)], nil])
        #expect(values.map { $0.members?.count } == [nil, nil, nil, nil, nil, nil, 1])
    }

    @Test(
        arguments: [
            (#"{"a":1}"#, "1"), (#" { "a" : [ 1 , 2 ] , "b":0} "#, "[ 1 , 2 ]"), (#"{"b":{"a":1},"a":"x"}"#, "\"x\""),
            (#"{"a":1,"a":{"a": 2}}"#, #"{"a": 2}"#), (#"{"\u0061":null}"#, "null"), (#"{"b":1}"#, nil), ("{}", nil),
        ] as [(String, String?)])
    func `the byte ranges of members are found`(text: String, member: String?) throws {
        let whole = bytes(text)
        let range = try JSONValue.rawRange(of: "a", in: whole.span)
        #expect(range.map { String(decoding: whole[$0], as: UTF8.self) } == member)
    }

    @Test(
        arguments: [
            ("[]", .isNotObject), ("1", .isNotObject), ("", .endsEarly), ("{", .endsEarly), (#"{"a":1,}"#, .isNotName),
            (#"{"a":1}x"#, .hasMoreBehind), (#"{"a":}"#, .isNotValue), (#"{"a":1;"#, .lacksComma),
            (#"{"a""#, .endsEarly),
        ] as [(String, JSONError.Problem)])
    func `ranges are given only for valid text`(text: String, problem: JSONError.Problem) {
        let error = #expect(throws: JSONError.self) { try JSONValue.memberRanges(in: bytes(text).span) }
        #expect(error?.problem == problem)
    }

    @Test func `a member may nest as deep as a whole text`() throws {
        func nested(_ depth: Int) -> [UInt8] {
            bytes("{\"a\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}")
        }
        let range = try JSONValue.rawRange(of: "a", in: nested(Limits.jsonDepthMax).span)
        #expect(range?.count == 2 * Limits.jsonDepthMax)
        #expect(throws: JSONError.self) { try JSONValue.rawRange(of: "a", in: nested(Limits.jsonDepthMax + 1).span) }
    }

    @Test(arguments: seeds)
    func `a tree survives writing and reading`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let tree = generator.tree(depthMax: 6)
        var text: [UInt8] = []
        JSONWriter.append(tree, to: &text)
        let copy = try JSONValue(parsing: text.span)
        #expect(copy == tree)
        // The bytes are compared too, because `String` treats canonically equivalent texts as equal.
        var textOfCopy: [UInt8] = []
        JSONWriter.append(copy, to: &textOfCopy)
        #expect(textOfCopy == text)
    }

    private func parse(_ text: String) throws -> JSONValue {
        try JSONValue(parsing: bytes(text).span)
    }
}
