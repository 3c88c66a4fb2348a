// SPDX-License-Identifier: Apache-2.0

@testable import PushCore
import TestSupport
import Testing

/// Texts that RFC 8259 allows and texts that it does not allow, section by section.
enum JSONCorpus {
    /// A text and its problem.
    struct Invalid: Sendable, CustomTestStringConvertible {
        var text: [UInt8]
        var problem: JSONError.Problem
        var offset: Int

        init(_ text: String, _ problem: JSONError.Problem, at offset: Int) {
            self.init(bytes(text), problem, at: offset)
        }

        init(_ text: [UInt8], _ problem: JSONError.Problem, at offset: Int) {
            self.text = text
            self.problem = problem
            self.offset = offset
        }

        var testDescription: String { String(reflecting: String(decoding: text, as: UTF8.self)) }
    }

    /// JSON objects, which both checks accept.
    static let objects = [
        "{}", " \t\r\n{ \t\r\n} \t\r\n", #"{"":0}"#, #"{"a":{"b":{"c":{}}}}"#, #"{ "a" : [ 1 , 2 ] , "b" : null }"#,
        #"{"a":1,"a":2}"#, #"{"a":[{"b":[{}]},[],[[]]]}"#, #"{"\u0061\n":"\u0000"}"#,
        #"{"aps":{"alert":{"title":"Grüße","body":"你好 🎉"},"badge":3,"sound":"default"},"id":"4711"}"#,
    ]

    /// JSON values that only `validate` accepts.
    static let values =
        [
            "null", "true", "false", " null ", "[]", "[ ]", "[null]", "[[[[]]]]", #"[{},{"a":[]}]"#,
            "0", "-0", "1", "-1", "10", "123456789012345678901234567890", "0.0", "-0.5", "1.25", "0e0", "0E+0", "1e1",
            "1E-1", "1.5e+300", "-1.5E-300", "1e99999", "100000000000000000000.00000000000000000001",
            #""""#, #""a""#, #""\"\\\/\b\f\n\r\t\u0041""#, #""\u00e9\u20AC\uD83D\uDE00""#, #""\ud83d\udE00""#,
            #""\uDBFF\uDFFF\uD800\uDC00""#, "\"\u{7F}\u{80}\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}\"",
            "\"\u{D7FF}\u{E000}\u{FEFF}\u{FFFE}\"", "\"e\u{301}\u{2028}\"",
        ] + runs

    /// Strings with a special character at each position of an eight-byte word.
    static let runs = (0...17).flatMap { count in
        let run = String(repeating: "x", count: count)
        return ["\"\(run)\"", "\"\(run)\\n\(run)\"", "\"\(run)é\(run)\"", "\"\(run)\\\"\(run)\""]
    }

    /// Texts that no check accepts, each with the offset of its first invalid byte.
    static let invalid: [Invalid] =
        [
            Invalid("", .endsEarly, at: 0), Invalid(" ", .endsEarly, at: 1), Invalid("\0", .isNotValue, at: 0),
            Invalid("\u{0B}{}", .isNotValue, at: 0), Invalid("\u{A0}{}", .isNotValue, at: 0),
            Invalid("\u{FEFF}{}", .isNotValue, at: 0), Invalid("}", .isNotValue, at: 0),
            Invalid(",", .isNotValue, at: 0),
            Invalid("nul", .endsEarly, at: 3), Invalid("nuLl", .isNotValue, at: 2), Invalid("True", .isNotValue, at: 0),
            Invalid("NaN", .isNotValue, at: 0), Invalid("Infinity", .isNotValue, at: 0),
            Invalid("'a'", .isNotValue, at: 0),
            Invalid("nulls", .hasMoreBehind, at: 4), Invalid("{}{}", .hasMoreBehind, at: 2),
            Invalid("{} x", .hasMoreBehind, at: 3), Invalid("{}\0", .hasMoreBehind, at: 2),
            Invalid("{},", .hasMoreBehind, at: 2), Invalid("{}//", .hasMoreBehind, at: 2),
        ] + containers + numbers + strings + encodings

    private static let containers = [
        Invalid("{", .endsEarly, at: 1), Invalid("{,}", .isNotName, at: 1), Invalid("{a:1}", .isNotName, at: 1),
        Invalid("{'a':1}", .isNotName, at: 1), Invalid("{1:1}", .isNotName, at: 1),
        Invalid("{null:1}", .isNotName, at: 1),
        Invalid(#"{"a"}"#, .lacksColon, at: 4), Invalid(#"{"a" 1}"#, .lacksColon, at: 5),
        Invalid(#"{"a",1}"#, .lacksColon, at: 4), Invalid(#"{"a":}"#, .isNotValue, at: 5),
        Invalid(#"{"a"::1}"#, .isNotValue, at: 5), Invalid(#"{"a":1,}"#, .isNotName, at: 7),
        Invalid(#"{"a":1,,"b":2}"#, .isNotName, at: 7), Invalid(#"{"a":1 "b":2}"#, .lacksComma, at: 7),
        Invalid(#"{"a":1]"#, .lacksComma, at: 6), Invalid(#"{"a":1;"b":2}"#, .lacksComma, at: 6),
        Invalid(#"{"a":/**/1}"#, .isNotValue, at: 5), Invalid("[", .endsEarly, at: 1),
        Invalid("[,]", .isNotValue, at: 1),
        Invalid("[1,]", .isNotValue, at: 3), Invalid("[1,,2]", .isNotValue, at: 3),
        Invalid("[1 2]", .lacksComma, at: 3),
        Invalid("[1}", .lacksComma, at: 2), Invalid("[1:2]", .lacksComma, at: 2), Invalid("[]]", .hasMoreBehind, at: 2),
        Invalid("[[1]", .endsEarly, at: 4),
    ]

    private static let numbers = [
        Invalid("-", .endsEarly, at: 1), Invalid("[-]", .hasBadNumber, at: 2), Invalid("+1", .isNotValue, at: 0),
        Invalid("--1", .hasBadNumber, at: 1), Invalid("01", .hasMoreBehind, at: 1),
        Invalid("-01", .hasMoreBehind, at: 2),
        Invalid("[01]", .lacksComma, at: 2), Invalid(".5", .isNotValue, at: 0), Invalid("-.5", .hasBadNumber, at: 1),
        Invalid("1.", .endsEarly, at: 2), Invalid("[1.]", .hasBadNumber, at: 3), Invalid("1.e1", .hasBadNumber, at: 2),
        Invalid("1e", .endsEarly, at: 2), Invalid("[1e]", .hasBadNumber, at: 3), Invalid("1e+", .endsEarly, at: 3),
        Invalid("[1e+-1]", .hasBadNumber, at: 4), Invalid("1e1.5", .hasMoreBehind, at: 3),
        Invalid("0x1F", .hasMoreBehind, at: 1), Invalid("1_000", .hasMoreBehind, at: 1),
        Invalid("1 000", .hasMoreBehind, at: 2), Invalid("-Infinity", .hasBadNumber, at: 1),
        Invalid("١", .isNotValue, at: 0), Invalid("1١", .hasMoreBehind, at: 1),
    ]

    private static let strings = [
        Invalid(#"""#, .endsEarly, at: 1), Invalid(#""abc"#, .endsEarly, at: 4), Invalid(#""abc\"#, .endsEarly, at: 5),
        Invalid(#""\""#, .endsEarly, at: 3), Invalid(#""\x""#, .hasBadEscape, at: 2),
        Invalid(#""\U0041""#, .hasBadEscape, at: 2),
        Invalid(#""\'""#, .hasBadEscape, at: 2), Invalid("\"\\\n\"", .hasBadEscape, at: 2),
        Invalid(#""\u""#, .hasBadEscape, at: 3), Invalid(#""\u004""#, .hasBadEscape, at: 6),
        Invalid(#""\u00G0""#, .hasBadEscape, at: 5), Invalid(#""\u+041""#, .hasBadEscape, at: 3),
        Invalid(#""\u004"#, .endsEarly, at: 6), Invalid("\"\0\"", .hasControlCharacter, at: 1),
        Invalid("\"\u{1F}\"", .hasControlCharacter, at: 1), Invalid("\"a\nb\"", .hasControlCharacter, at: 2),
        Invalid("\"0123456\t\"", .hasControlCharacter, at: 8), Invalid("\"01234567\t\"", .hasControlCharacter, at: 9),
        Invalid(#""\uD800""#, .hasLoneSurrogate, at: 1), Invalid(#""a\uDBFF""#, .hasLoneSurrogate, at: 2),
        Invalid(#""\uDC00""#, .hasLoneSurrogate, at: 1), Invalid(#""\uDFFF\uD800""#, .hasLoneSurrogate, at: 1),
        Invalid(#""\uD800\u0041""#, .hasLoneSurrogate, at: 1), Invalid(#""\uD800\uD800""#, .hasLoneSurrogate, at: 1),
        Invalid(#""\uD800\n""#, .hasLoneSurrogate, at: 1), Invalid(#""\uD800x""#, .hasLoneSurrogate, at: 1),
        Invalid(#""\uD800"#, .endsEarly, at: 7), Invalid(#""\uD800\"#, .endsEarly, at: 8),
        Invalid(#""\uD800\x""#, .hasBadEscape, at: 8),
    ]

    private static let encodings = [
        Invalid([0x22, 0x80, 0x22], .hasBadUTF8, at: 1), Invalid([0x22, 0xBF, 0x22], .hasBadUTF8, at: 1),
        Invalid([0x22, 0xC0, 0x80, 0x22], .hasBadUTF8, at: 1), Invalid([0x22, 0xC1, 0xBF, 0x22], .hasBadUTF8, at: 1),
        Invalid([0x22, 0xC2, 0x22], .hasBadUTF8, at: 2), Invalid([0x22, 0xC2, 0xC2, 0x22], .hasBadUTF8, at: 2),
        Invalid([0x22, 0xE0, 0x9F, 0xBF, 0x22], .hasBadUTF8, at: 2),
        Invalid([0x22, 0xE2, 0x82, 0x22], .hasBadUTF8, at: 3), Invalid([0x22, 0xE2, 0x82], .endsEarly, at: 3),
        Invalid([0x22, 0xED, 0xA0, 0x80, 0x22], .hasBadUTF8, at: 2),
        Invalid([0x22, 0xED, 0xBF, 0xBF, 0x22], .hasBadUTF8, at: 2),
        Invalid([0x22, 0xF0, 0x8F, 0xBF, 0xBF, 0x22], .hasBadUTF8, at: 2),
        Invalid([0x22, 0xF0, 0x9F, 0x98, 0x22], .hasBadUTF8, at: 4),
        Invalid([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], .hasBadUTF8, at: 2),
        Invalid([0x22, 0xF5, 0x80, 0x80, 0x80, 0x22], .hasBadUTF8, at: 1),
        Invalid([0x22, 0xFF, 0x22], .hasBadUTF8, at: 1),
        Invalid([0x7B, 0x00, 0x7D, 0x00], .isNotName, at: 1), Invalid([0xFF, 0xFE, 0x7B, 0x00], .isNotValue, at: 0),
    ]
}
