// SPDX-License-Identifier: Apache-2.0

import PushCore
import Testing

struct PushTypeTests {
    @Test(arguments: PushType.allCases)
    func `a type is read however its letters are written`(type: PushType) {
        for text in [type.rawValue, type.rawValue.uppercased(), type.rawValue.capitalizedFirst] {
            #expect(PushType(bytes(text)) == type)
        }
    }

    @Test(arguments: PushType.allCases)
    func `a type with a byte more or less is refused`(type: PushType) {
        for text in ["\(type.rawValue) ", " \(type.rawValue)", "\(type.rawValue)s", String(type.rawValue.dropLast())] {
            #expect(PushType(bytes(text)) == nil)
        }
    }

    // The Kelvin sign is a lower-case k to String, and 0x0D is 0x2D without the bit that tells the cases apart.
    @Test(arguments: ["", "bogus", "bac\u{212A}ground", "alert\0", "ALERT,alert", "live-activity"])
    func `an unknown type is refused`(text: String) {
        #expect(PushType(bytes(text)) == nil)
    }
}

struct HeaderValuesTests {
    @Test(
        arguments: [
            ("0", 0), ("1", 1), ("1790000000", 1_790_000_000), ("1000000000000", 1_000_000_000_000),
            ("1000000000001", nil),
            ("1790000000000000", nil), ("-1", nil), ("1.5", nil), ("soon", nil), ("", nil), (" 1", nil),
            ("99999999999999999999", nil),
        ] as [(String, Int64?)])
    func `an expiration is whole seconds up to the limit`(text: String, seconds: Int64?) {
        #expect(HeaderValues.expiration(bytes(text)) == seconds)
    }

    @Test(
        arguments: [
            ("10", 10), ("5", 5), ("1", 1), ("0", nil), ("7", nil), ("9", nil), ("11", nil), ("10.0", nil),
            ("010", nil),
            ("05", nil), (" 5", nil), ("", nil), ("high", nil), ("1O", nil),
        ] as [(String, UInt8?)])
    func `a priority is 10, 5 or 1`(text: String, priority: UInt8?) {
        #expect(HeaderValues.priority(bytes(text)) == priority)
    }

    @Test(arguments: [
        ("a", true), ("com.example.MyApp", true), ("com.example.my-app_2.voip-ptt", true), ("", false),
        ("com example!", false),
        ("com.example/x", false), ("com.exämple", false), ("a\0", false), ("a\n", false), ("*", false), ("a@b", false),
        ("[", false), ("`", false), ("{", false), (":", false),
    ])
    func `a topic has letters, digits, dots, hyphens and underscores`(text: String, isTopic: Bool) {
        #expect(HeaderValues.isTopic(bytes(text)) == isTopic)
    }

    @Test(arguments: [(0, false), (1, true), (254, true), (255, true), (256, false)])
    func `a topic has at most 255 bytes`(count: Int, isTopic: Bool) {
        #expect(HeaderValues.isTopic([UInt8](repeating: UInt8(ascii: "a"), count: count)) == isTopic)
    }

    @Test(arguments: [(0, false), (1, true), (63, true), (64, true), (65, false)])
    func `a collapse id has at most 64 bytes, of any value`(count: Int, isCollapseID: Bool) {
        #expect(HeaderValues.isCollapseID([UInt8](repeating: 0xFF, count: count)) == isCollapseID)
    }

    @Test func `a collapse id is measured in bytes and not in characters`() {
        #expect(HeaderValues.isCollapseID(bytes(String(repeating: "é", count: 32))))
        #expect(!HeaderValues.isCollapseID(bytes(String(repeating: "é", count: 33))))
    }
}

struct DeviceTokenPathTests {
    @Test(
        arguments: [
            ("/3/device/a", .device(10..<11)), ("/3/device/0123456789abcdef", .device(10..<26)),
            ("/3/device/zz..#%20", .device(10..<18)),
            ("/3/device", .missingToken), ("/3/device/", .missingToken), ("", .badPath), ("/", .badPath),
            ("/3", .badPath),
            ("/3/devic", .badPath), ("/3/devices/a", .badPath), ("/2/device/a", .badPath), ("/3/DEVICE/a", .badPath),
            ("/3/device/a/", .badPath), ("/3/device/a/x", .badPath), ("/3/device//", .badPath),
            ("/3/device/a?x=1", .badPath),
            ("/3/device?x", .badPath), ("/3/device/?x", .badPath), ("3/device/a", .badPath), ("//3/device/a", .badPath),
            ("https://host/3/device/a", .badPath), ("*", .badPath),
        ] as [(String, DeviceTokenPath)])
    func `a path is sorted by its bytes`(path: String, expected: DeviceTokenPath) {
        #expect(DeviceTokenPath.parse(bytes(path)) == expected)
    }
}

struct RejectionReasonTests {
    @Test(arguments: RejectionReason.allCases)
    func `each reason has an error's status and one sentence of advice`(reason: RejectionReason) {
        #expect([400, 403, 404, 405, 410, 413, 429, 500, 503].contains(reason.status))
        #expect(reason.advice.hasSuffix("."))
        #expect(reason.advice.first?.isUppercase == true)
        #expect(!reason.rawValue.isEmpty)
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
