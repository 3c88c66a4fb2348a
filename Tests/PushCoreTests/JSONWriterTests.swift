// SPDX-License-Identifier: Apache-2.0

@testable import PushCore
import TestSupport
import Testing

struct JSONWriterTests {
    @Test(arguments: [
        ("", #""""#), ("a/b", #""a/b""#), ("\"\\", #""\"\\""#), ("\u{8}\t\n\u{C}\r", #""\b\t\n\f\r""#),
        ("\0\u{1F}\u{7F}", "\"\\u0000\\u001f\u{7F}\""), ("é😀", "\"é😀\""),
    ])
    func `a string is written in quotes with the shortest escapes`(text: String, json: String) {
        var output: [UInt8] = []
        JSONWriter.append(text, to: &output)
        #expect(output == bytes(json))
    }

    @Test(arguments: 0..<20)
    func `an escape is written exactly where it is needed`(offset: Int) {
        for (special, escape) in [
            ("\"", #"\""#), ("\\", #"\\"#), ("\u{1F}", #"\u001f"#), (" ", " "), ("!", "!"), ("ÿ", "ÿ"),
        ] {
            let (before, behind) = (String(repeating: "#", count: offset), String(repeating: "]", count: 19 - offset))
            var output: [UInt8] = []
            JSONWriter.append(before + special + behind + special, to: &output)
            #expect(output == bytes("\"\(before)\(escape)\(behind)\(escape)\""))
        }
    }

    @Test func `members and elements are separated by commas`() {
        let value = JSONValue.object([
            .init(key: "a", value: .object([])), .init(key: "b", value: .array([.null, .bool(true), .bool(false)])),
            .init(key: "{", value: .string("{")), .init(key: "n", value: .number("1.50")),
            .init(key: "c", value: .object([.init(key: "d", value: .integer(-1))])),
        ])
        var output: [UInt8] = []
        JSONWriter.append(value, to: &output)
        #expect(output == bytes(#"{"a":{},"b":[null,true,false],"{":"{","n":1.50,"c":{"d":-1}}"#))
    }
}
