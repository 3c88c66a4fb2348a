// SPDX-License-Identifier: Apache-2.0

@testable import PushCore
import TestSupport
import Testing

struct PushTypeTests {
    @Test(arguments: PushType.allCases)
    func `a push type is matched without regard to case`(type: PushType) {
        for text in [type.rawValue, type.rawValue.uppercased(), type.rawValue.capitalizedFirst] {
            #expect(PushType(bytes(text)) == type)
        }
    }

    @Test(arguments: PushType.allCases)
    func `a push type with a missing or extra byte is refused`(type: PushType) {
        for text in ["\(type.rawValue) ", " \(type.rawValue)", "\(type.rawValue)s", String(type.rawValue.dropLast())] {
            #expect(PushType(bytes(text)) == nil)
        }
    }

    // `String` lower-cases the Kelvin sign to a k.
    @Test(arguments: ["", "bogus", "bac\u{212A}ground", "alert\0", "ALERT,alert", "live-activity"])
    func `an unknown type is refused`(text: String) {
        #expect(PushType(bytes(text)) == nil)
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
