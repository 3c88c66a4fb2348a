// SPDX-License-Identifier: Apache-2.0

import AgentBus
import PushCore
import Testing

@testable import AgentPanel

struct IgnoredTextTests {
    @Test func `a usual reason is one sentence, and other reasons add the agent's own text`() {
        let usual = IgnoredText(["attachment-url: the app does not name the host a.example in picture_hosts"])
        #expect(
            usual.sentences == ["The picture was not loaded because the app does not allow pictures from this server."])
        #expect(usual.details.isEmpty)
        let rare = ["attachment-path: the file is a symbolic link", "url: it names no host", "other: a reason"]
        let text = IgnoredText(rare)
        let sentences = [
            "The picture could not be loaded.", "The link was left out because its address is not allowed.",
        ]
        #expect(text.sentences == sentences && text.details == rare.joined(separator: "\n"))
        #expect(IgnoredText([]) == IgnoredText([String]()) && IgnoredText([]).sentences.isEmpty)
    }

    @Test func `each usual reason has a sentence of its own`() {
        let texts = PictureProblem.allCases.map { IgnoredText(["attachment-url: \($0.rawValue) and more"]) }
        #expect(texts.allSatisfy { $0.sentences.count == 1 && $0.details.isEmpty })
        #expect(Set(texts.flatMap(\.sentences)).count == PictureProblem.allCases.count)
    }

    @Test func `an entry with an ignored picture can be expanded`() {
        var entry = SampleRecords.entry(1, title: "Anna", body: "")
        #expect(!EntryRow.isExpandable(entry))
        entry.ignored = ["attachment-url: it is damaged or too large"]
        #expect(EntryRow.isExpandable(entry))
    }
}
