// SPDX-License-Identifier: Apache-2.0

@testable import PushCore
import TestSupport
import Testing

/// Checks the payload validator against JSONTestSuite.
///
/// `y_` files are JSON and `n_` files are not. The RFC leaves `i_` files open.
@Suite(.enabled(if: TestVectors.has("jsontestsuite"), "\(TestVectors.absence(of: "jsontestsuite"))"))
struct JSONVectorTests {
    private let files = TestVectors.files(in: "jsontestsuite/test_parsing")

    private func files(_ prefix: String) -> [(name: String, bytes: [UInt8])] {
        files.filter { $0.name.hasPrefix(prefix) }
    }

    private func isValid(_ bytes: [UInt8]) -> Bool { (try? JSONValidator.validate(bytes.span)) != nil }

    /// Validates the text as a member of an object, as a payload must be one.
    private func isValidMember(_ text: [UInt8]) -> Bool {
        let object = bytes("{\"a\":") + text + bytes("}")
        return (try? JSONValidator.validateObject(object.span)) != nil
    }

    @Test func `each valid JSON text is accepted and parsed, alone and in an object`() throws {
        let valid = files("y_")
        #expect(valid.count == 95)
        for file in valid {
            #expect(isValid(file.bytes) && isValidMember(file.bytes), "\(file.name)")
            #expect((try? JSONValue(parsing: file.bytes.span)) != nil, "\(file.name)")
        }
    }

    @Test func `each invalid JSON text is refused, alone and in an object`() {
        let invalid = files("n_")
        #expect(invalid.count == 188)
        for file in invalid { #expect(!isValid(file.bytes) && !isValidMember(file.bytes), "\(file.name)") }
    }

    @Test func `a text that the RFC leaves open is refused or parsed, and crashes nothing`() {
        let open = files("i_")
        #expect(open.count == 35)
        for file in open {
            let isRead = (try? JSONValue(parsing: file.bytes.span)) != nil
            #expect(isRead == isValid(file.bytes), "\(file.name)")
            #expect(isValidMember(file.bytes) == isRead, "\(file.name)")
        }
    }
}
