// SPDX-License-Identifier: Apache-2.0

@testable import AgentPanel
import PanelToolkit
import Testing

struct IconMessagesTests {
    /// Parses requests from bytes as the icon reader parses its input.
    private func requests(_ bytes: [UInt8]) -> [IconRequest] {
        var rest = bytes[...]
        func read(_ count: Int) -> [UInt8] {
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        var found: [IconRequest] = []
        while let request = IconRequest(read) { found.append(request) }
        return found
    }

    @Test func `requests arrive as they were sent, even with unusual characters in a path`() {
        let sent = [
            IconRequest(path: "/a", pixels: 1), IconRequest(path: "/two\nlines é 3", pixels: 1024, stamp: "12.3.4.5"),
        ]
        #expect(requests(sent.flatMap(\.bytes)) == sent)
    }

    @Test(arguments: [
        "", "\n", "48 - 2", "48 - 2\n/", "0 - 2\n/a", "1025 - 2\n/a", "48 - 0\n", "48 - 4096\n/a", "48 -\n/a",
        "x - 2\n/a", String(repeating: "4", count: 300),
    ])
    func `an invalid request ends the reading`(text: String) { #expect(requests(Array(text.utf8)).isEmpty) }

    /// Feeds the parser one byte at a time and returns the parsed answers.
    private func answers(_ bytes: [UInt8], pixels: Int) throws -> [IconAnswer] {
        var parser = IconAnswers()
        var found: [IconAnswer] = []
        for byte in bytes {
            parser.append([byte])
            while let answer = try parser.next(pixels: pixels) { found.append(answer) }
        }
        return found
    }

    @Test func `answers arrive as they were sent, however they are split`() throws {
        let picture = PixelPicture(width: 2, height: 1, points: [10, 0, 255, 10, 1, 2, 3, 4])
        let sent: [IconAnswer] = [
            .ready, .stamp("12.3.4.5"), .picture(picture), .unchanged, .refused("not a regular file"),
        ]
        #expect(try answers(sent.flatMap(\.bytes), pixels: 2) == sent)
    }

    @Test(arguments: [
        "\n", "nonsense\n", "picture\n", "picture 3 1\n", "picture 1 3\n", "picture 0 1\n", "picture -1 -1\n",
        "picture 1 1 1\n", "picture 9223372036854775807 9223372036854775807\n", String(repeating: "x", count: 3000),
    ])
    func `malformed answers of a compromised icon reader are rejected`(text: String) {
        #expect(throws: IconAnswers.Malformed.self) { try answers(Array(text.utf8), pixels: 2) }
    }

    @Test func `a reason is one line of bounded length`() throws {
        let answer = IconAnswer.refused("two\nlines" + String(repeating: "é", count: 5000))
        let found = try answers(answer.bytes, pixels: 1)
        #expect(found == [.refused("twolines" + String(repeating: "é", count: 292))])
    }
}
