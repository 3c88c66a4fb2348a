// SPDX-License-Identifier: Apache-2.0

@testable import PushCore
import TestSupport
import Testing

struct JSONValidatorTests {
    @Test(arguments: JSONCorpus.objects)
    func `an object is accepted`(text: String) throws {
        try JSONValidator.validateObject(bytes(text).span)
        try JSONValidator.validate(bytes(text).span)
    }

    @Test(arguments: JSONCorpus.values)
    func `a value that is not an object is accepted only where any value is`(text: String) throws {
        try JSONValidator.validate(bytes(text).span)
        let problem = #expect(throws: JSONError.self) { try JSONValidator.validateObject(bytes(text).span) }?.problem
        #expect(problem == .isNotObject)
    }

    @Test(arguments: JSONCorpus.values)
    func `a value is accepted as a member and as an element`(text: String) throws {
        try JSONValidator.validateObject(bytes("{\"a\":\(text)}").span)
        try JSONValidator.validate(bytes("[\(text),\(text)]").span)
    }

    @Test(arguments: JSONCorpus.invalid)
    func `an invalid text is refused at the offset of the error`(invalid: JSONCorpus.Invalid) {
        #expect(throws: JSONError(offset: invalid.offset, problem: invalid.problem)) {
            try JSONValidator.validate(invalid.text.span)
        }
    }

    @Test(arguments: JSONCorpus.invalid)
    func `an invalid text is refused as an object too`(invalid: JSONCorpus.Invalid) {
        #expect(throws: JSONError.self) { try JSONValidator.validateObject(invalid.text.span) }
    }

    @Test(arguments: JSONCorpus.objects)
    func `a truncated object is reported as ending early`(text: String) {
        let whole = bytes(text)
        let end = whole.lastIndex(of: UInt8(ascii: "}")) ?? 0
        for count in 0...end {
            #expect(throws: JSONError(offset: count, problem: .endsEarly)) {
                try JSONValidator.validateObject(whole.span.extracting(first: count))
            }
        }
    }

    @Test(arguments: JSONCorpus.values.filter { !"-0123456789".contains($0.first ?? " ") })
    func `a truncated value is reported as ending early`(text: String) {
        let whole = bytes(text)
        let end = whole.lastIndex { $0 != UInt8(ascii: " ") } ?? 0
        for count in 0...end {
            #expect(throws: JSONError(offset: count, problem: .endsEarly)) {
                try JSONValidator.validate(whole.span.extracting(first: count))
            }
        }
    }

    @Test(arguments: JSONCorpus.invalid)
    func `an invalid text is never accepted when it is truncated`(invalid: JSONCorpus.Invalid) {
        // A part of a number or of "{} x" may be valid JSON, but nothing up to the invalid byte is an object.
        for count in 0..<invalid.offset where invalid.problem != .hasMoreBehind {
            #expect(throws: JSONError.self) {
                try JSONValidator.validateObject(invalid.text.span.extracting(first: count))
            }
        }
    }

    @Test(arguments: ["[", "{\"a\":"])
    func `nesting up to the limit is accepted, and one level deeper is refused`(opening: String) throws {
        let closing = opening == "[" ? "]" : "}"
        let value = opening == "[" ? "" : "1"
        func nested(_ depth: Int) -> [UInt8] {
            bytes(String(repeating: opening, count: depth) + value + String(repeating: closing, count: depth))
        }
        try JSONValidator.validate(nested(Limits.jsonDepthMax).span)
        let offset = opening.utf8.count * Limits.jsonDepthMax
        #expect(throws: JSONError(offset: offset, problem: .nestsTooDeep)) {
            try JSONValidator.validate(nested(Limits.jsonDepthMax + 1).span)
        }
    }

    @Test func `sibling containers do not count as nesting`() throws {
        let text = "[" + Array(repeating: "[{\"a\":[]}]", count: 200).joined(separator: ",") + "]"
        try JSONValidator.validate(bytes(text).span)
    }

    @Test func `nested arrays and objects keep their closing brackets`() throws {
        let halfDepth = Limits.jsonDepthMax / 2
        let opening = String(repeating: "[{\"a\":", count: halfDepth)
        try JSONValidator.validate(bytes(opening + "0" + String(repeating: "}]", count: halfDepth)).span)
        #expect(throws: JSONError.self) {
            try JSONValidator.validate(bytes(opening + "0" + String(repeating: "]}", count: halfDepth)).span)
        }
    }

    @Test(arguments: UInt8.min...UInt8.max)
    func `a single byte in a string is validated`(byte: UInt8) {
        let isPlain = byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
        for count in 0..<9 {
            let run = [UInt8](repeating: UInt8(ascii: "x"), count: count)
            let text = bytes("\"") + run + [byte] + run + bytes("\"")
            // A quotation mark ends the string, and the rest is then unexpected.
            #expect(accepts(text) == isPlain)
        }
    }

    @Test(arguments: seeds)
    func `a written tree is accepted, and refused with its last bytes missing`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var text: [UInt8] = []
        JSONWriter.append(.object([.init(key: "a", value: generator.tree(depthMax: 5))]), to: &text)
        try JSONValidator.validateObject(text.span)
        for count in 0..<text.count {
            #expect(throws: JSONError.self) { try JSONValidator.validateObject(text.span.extracting(first: count)) }
        }
    }

    @Test(arguments: JSONError.Problem.allCases)
    func `each problem has one sentence`(problem: JSONError.Problem) {
        #expect(problem.sentence.hasSuffix("."))
        #expect(problem.sentence.count { $0 == "." } == 1)
    }

    private func accepts(_ text: [UInt8]) -> Bool {
        (try? JSONValidator.validate(text.span)) != nil
    }
}

extension SeededGenerator {
    /// Generates a random tree.
    mutating func tree(depthMax: Int) -> JSONValue {
        switch Int.random(in: 0..<(depthMax > 0 ? 9 : 6), using: &self) {
        case 0: .null
        case 1: .bool(Bool.random(using: &self))
        case 2: .integer(Int64.random(in: .min ... .max, using: &self))
        case 3: .number("\(Double.random(in: -1e6...1e6, using: &self))")
        case 4, 5: .string(text(countMax: 20))
        case 6: .array((0..<Int.random(in: 0...4, using: &self)).map { _ in tree(depthMax: depthMax - 1) })
        default:
            .object(
                (0..<Int.random(in: 0...4, using: &self)).map { _ in
                    JSONValue.Member(key: text(countMax: 6), value: tree(depthMax: depthMax - 1))
                })
        }
    }
}
