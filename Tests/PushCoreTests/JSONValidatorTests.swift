// SPDX-License-Identifier: Apache-2.0

import PushCore
import TestSupport
import Testing

struct JSONValidatorTests {
    @Test(arguments: JSONCorpus.objects)
    func `an object is accepted`(text: String) throws {
        try JSONValidator.validateObject(bytes(text).span)
        try JSONValidator.validate(bytes(text).span)
    }

    @Test(arguments: JSONCorpus.values)
    func `a value that is no object is accepted only where any value is`(text: String) throws {
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
    func `a text that is wrong is refused at the byte where it goes wrong`(invalid: JSONCorpus.Invalid) {
        #expect(throws: JSONError(offset: invalid.offset, problem: invalid.problem)) {
            try JSONValidator.validate(invalid.text.span)
        }
    }

    @Test(arguments: JSONCorpus.invalid)
    func `a text that is wrong is refused as an object too`(invalid: JSONCorpus.Invalid) {
        #expect(throws: JSONError.self) { try JSONValidator.validateObject(invalid.text.span) }
    }

    @Test(arguments: JSONCorpus.objects)
    func `an object that is cut off anywhere ends early`(text: String) {
        let whole = bytes(text)
        let end = whole.lastIndex(of: UInt8(ascii: "}")) ?? 0
        for count in 0...end {
            #expect(throws: JSONError(offset: count, problem: .endsEarly)) {
                try JSONValidator.validateObject(whole.span.extracting(first: count))
            }
        }
    }

    @Test(arguments: JSONCorpus.values.filter { !"-0123456789".contains($0.first ?? " ") })
    func `a value that is cut off anywhere ends early`(text: String) {
        let whole = bytes(text)
        let end = whole.lastIndex { $0 != UInt8(ascii: " ") } ?? 0
        for count in 0...end {
            #expect(throws: JSONError(offset: count, problem: .endsEarly)) {
                try JSONValidator.validate(whole.span.extracting(first: count))
            }
        }
    }

    @Test(arguments: JSONCorpus.invalid)
    func `a text that is wrong is never accepted once it is cut off inside`(invalid: JSONCorpus.Invalid) {
        // A part of a number or of "{} x" may be a text of its own, but nothing up to the wrong byte is an object then.
        for count in 0..<invalid.offset where invalid.problem != .hasMoreBehind {
            #expect(throws: JSONError.self) {
                try JSONValidator.validateObject(invalid.text.span.extracting(first: count))
            }
        }
    }

    @Test(arguments: ["[", "{\"a\":"])
    func `nesting as deep as the limit is accepted and one deeper is refused`(opening: String) throws {
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

    @Test func `containers beside each other do not count as nesting`() throws {
        let text = "[" + Array(repeating: "[{\"a\":[]}]", count: 200).joined(separator: ",") + "]"
        try JSONValidator.validate(bytes(text).span)
    }

    @Test func `arrays and objects in each other keep their closing brackets`() throws {
        let halfDepth = Limits.jsonDepthMax / 2
        let opening = String(repeating: "[{\"a\":", count: halfDepth)
        try JSONValidator.validate(bytes(opening + "0" + String(repeating: "}]", count: halfDepth)).span)
        #expect(throws: JSONError.self) {
            try JSONValidator.validate(bytes(opening + "0" + String(repeating: "]}", count: halfDepth)).span)
        }
    }

    @Test(arguments: UInt8.min...UInt8.max)
    func `each byte alone in a string is judged by itself`(byte: UInt8) {
        let isPlain = byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
        for count in 0..<9 {
            let run = [UInt8](repeating: UInt8(ascii: "x"), count: count)
            let text = bytes("\"") + run + [byte] + run + bytes("\"")
            // A quote ends the string, and what is behind it is then too much.
            #expect(accepts(text) == isPlain)
        }
    }

    @Test(arguments: seeds)
    func `a tree that was written is accepted, and refused with any byte missing at its end`(seed: UInt64) throws {
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
    /// A random tree.
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
