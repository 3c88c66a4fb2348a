// SPDX-License-Identifier: Apache-2.0

@testable import PushDBus
import TestSupport
import Testing

struct BusValueTests {
    @Test(arguments: [
        (BusValue.string(""), "s"), (.objectPath("/"), "o"), (.typeSignature("as"), "g"), (.bool(true), "b"),
        (.byte(1), "y"), (.int16(1), "n"), (.uint16(1), "q"), (.int32(1), "i"), (.uint32(1), "u"), (.int64(1), "x"),
        (.uint64(1), "t"), (.double(1), "d"), (.variant(.byte(1)), "v"), (.array("(si)", []), "a(si)"),
        (.structure([.string(""), .array("y", [])]), "(say)"), (.dictionary([]), "a{sv}"),
    ])
    func `a value knows its D-Bus signature`(value: BusValue, signature: String) {
        #expect(value.signature == signature)
    }

    @Test func `texts that Unicode calls canonically equivalent are different values`() {
        #expect(BusValue.string("e\u{301}") != .string("\u{e9}"))
        #expect(BusValue.dictionary([("e\u{301}", .bool(true))]) != .dictionary([("\u{e9}", .bool(true))]))
        #expect(BusValue.dictionary([("e\u{301}", .bool(true))])[key: "\u{e9}"] == nil)
    }

    @Test func `values of different types are different`() {
        #expect(BusValue.int32(1) != .uint32(1))
        #expect(BusValue.array("s", []) != .array("i", []))
        #expect(BusValue.string("/") != .objectPath("/"))
    }

    @Test func `a dictionary's value equals itself inside a variant`() {
        #expect(BusValue.dictionary([("a", .bool(true))]) == .dictionary([("a", .variant(.bool(true)))]))
    }

    @Test func `accessors look through variants and refuse other types`() {
        let value = BusValue.variant(.variant(.int32(-7)))
        #expect(value.integerValue == -7)
        #expect(value.stringValue == nil)
        #expect(value.boolValue == nil)
        #expect(value.arrayValue == nil)
        #expect(value[key: "a"] == nil)
        #expect(BusValue.uint64(.max).integerValue == nil)
        #expect(BusValue.uint64(UInt64(Int64.max)).integerValue == .max)
        #expect(BusValue.dictionary([("a", .variant(.string("b")))])[key: "a"]?.stringValue == "b")
    }

    /// Texts as scalar numbers, because a Swift literal cannot hold a noncharacter, and the part that a bus can carry.
    static let uncarried: [(String, String)] = [
        (scalars(0x61, 0, 0x62), "ab"), (scalars(0xFFFE), ""), (scalars(0x61, 0xFFFF), "a"),
        (scalars(0xFDD0, 0xFDEF, 0x62), "b"), (scalars(0x1FFFE, 0x78, 0x10FFFF), "x"),
        ("\u{FDCF}\u{FDF0}\u{FFFD}", "\u{FDCF}\u{FDF0}\u{FFFD}"), ("\u{10000}\u{1FFFD}", "\u{10000}\u{1FFFD}"),
        ("e\u{301}\u{1}\n", "e\u{301}\u{1}\n"), ("", ""),
    ]

    private static func scalars(_ numbers: UInt32...) -> String {
        String(String.UnicodeScalarView(numbers.compactMap(Unicode.Scalar.init)))
    }

    @Test func `a foreign text is sent without the characters that a bus cannot carry`() async throws {
        let bus = try await TestBus()
        try bus.serveEcho()
        for (text, carried) in Self.uncarried {
            #expect(try bus.call("Echo", [.text(text)]).get() == [.string(carried)], "\(text.debugDescription)")
        }
    }

    @Test func `every value survives a round trip over a real bus`() async throws {
        let bus = try await TestBus()
        try bus.serveEcho()
        for seed in 0..<UInt64(Patience.caseCount) {
            var generator = ValueGenerator(seed: seed)
            let values = (0..<3).map { _ in generator.value(depth: 0) }
            let answer = try bus.call("Echo", values).get()
            #expect(answer == values, "seed \(seed)")
        }
    }
}

/// Generates random values of every type.
private struct ValueGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    private mutating func next(_ bound: UInt64) -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state % bound
    }

    private mutating func text() -> String {
        let alphabet: [Unicode.Scalar] = ["a", "ä", "\u{301}", "<", "\n", "\u{1F4EF}", "\u{7f}", "\"", "\u{10FFFD}"]
        return String(
            String.UnicodeScalarView((0..<next(6)).map { _ in alphabet[Int(next(UInt64(alphabet.count)))] }))
    }

    mutating func value(depth: Int) -> BusValue {
        switch next(depth > 4 ? 12 : 16) {
        case 0: .string(text())
        case 1: .objectPath(next(2) == 0 ? "/" : "/org/posthorn/a_1")
        case 2: .typeSignature(next(2) == 0 ? "" : "a{sv}")
        case 3: .bool(next(2) == 0)
        case 4: .byte(UInt8(truncatingIfNeeded: next(.max)))
        case 5: .int16(Int16(truncatingIfNeeded: next(.max)))
        case 6: .uint16(UInt16(truncatingIfNeeded: next(.max)))
        case 7: .int32(Int32(truncatingIfNeeded: next(.max)))
        case 8: .uint32(UInt32(truncatingIfNeeded: next(.max)))
        case 9: .int64(Int64(truncatingIfNeeded: next(.max)))
        case 10: .uint64(next(.max))
        case 11: .double(Double(next(.max)) / 3)
        case 12: .variant(value(depth: depth + 1))
        case 13: array(depth: depth + 1)
        case 14: .structure((0...next(3)).map { _ in value(depth: depth + 1) })
        default: .dictionary((0..<next(4)).map { _ in (text(), value(depth: depth + 1).withoutVariant) })
        }
    }

    /// Generates an array whose elements all have the type of the first one.
    private mutating func array(depth: Int) -> BusValue {
        if next(4) == 0 {
            return .array("{su}", (0..<next(3)).map { _ in .structure([.string(text()), .uint32(7)]) })
        }
        let element = value(depth: depth)
        return .array(element.signature, Array(repeating: element, count: Int(next(4))))
    }
}
