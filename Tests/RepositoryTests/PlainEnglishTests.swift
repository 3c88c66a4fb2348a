// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// The rules for doc comments that a machine can check.
struct PlainEnglishTests {
    /// Words that open a fragment: the comment makes sense only together with the declaration below it.
    private static let fragmentOpenings: Set<Substring> = [
        "What", "Who", "Whose", "Whom", "Which", "Of", "For", "By", "Until", "Where", "Nobody", "It",
    ]

    /// Folders whose comments are still to be rewritten; the list only gets shorter.
    private static let unrevised = [
        "Benchmarks/", "FuzzTesting/", "Sources/DeviceAgent/Receiving/", "Sources/DeviceAgent/Server/",
        "Sources/DeviceAgent/Service/", "Sources/DeviceAgent/Settings/", "Sources/DeviceAgent/Sounds/",
        "Sources/DeviceAgent/Storage/", "Sources/PushCurl/", "Sources/PushDBus/", "Sources/PushHTTP/",
        "Sources/PushINI/", "Sources/PushNet/", "Sources/PushServer/", "Sources/PushSound/", "Sources/PushTLS/",
        "Sources/PushWebSocket/",
    ]

    @Test func `no doc comment opens with a fragment`() {
        let fragments = docComments { $0.prefix { $0.isLetter } }.filter { Self.fragmentOpenings.contains($0.value) }
        #expect(fragments.map(\.place) == [], "open with a verb or a noun phrase that stands alone")
    }

    @Test func `a doc comment has more than two words`() {
        let short = docComments { $0.split(separator: " ").count }.filter { $0.value <= 2 }
        #expect(short.map(\.place) == [], "say more, or delete the comment")
    }

    @Test func `no initializer is said to join its parts`() {
        #expect(docComments { $0.hasPrefix("Joins ") }.filter(\.value).map(\.place) == [], "delete the comment")
    }

    // MARK: Reading

    private struct Finding<Value> {
        let place: String
        let value: Value
    }

    /// Asks a question about the text of each doc comment in Swift files.
    private func docComments<Value>(_ question: (Substring) -> Value) -> [Finding<Value>] {
        let files = RepositoryFiles.swift.filter { file in !Self.unrevised.contains { file.path.hasPrefix($0) } }
        return files.flatMap { file in
            var findings: [Finding<Value>] = []
            var comment: (text: String, line: Int)?
            for (index, line) in file.lines.enumerated() {
                let text = line.drop { $0 == " " }
                if text.hasPrefix("///") {
                    let words = text.dropFirst(3).drop { $0 == " " }
                    comment = comment.map { ("\($0.text) \(words)", $0.line) } ?? (String(words), index + 1)
                } else if let ended = comment {
                    let place = "\(file.path):\(ended.line): \(ended.text)"
                    findings.append(Finding(place: place, value: question(ended.text[...])))
                    comment = nil
                }
            }
            return findings
        }
    }
}
