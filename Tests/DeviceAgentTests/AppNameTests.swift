// SPDX-License-Identifier: Apache-2.0

import LinuxDesktop
import PushCore
import Testing

/// Compares the rules of two forms of an app's name: the ID of its desktop file, and its topic.
struct AppNameTests {
    @Test func `an app without its own topic can use its ID as the topic`() {
        let characters = (0...0x7F).compactMap { UnicodeScalar($0).map(String.init) } + ["ä", "\u{301}"]
        var ids = characters.flatMap { first in characters.map { first + $0 } } + characters
        for count in [254, 255, 256] { ids.append(String(repeating: "a", count: count)) }
        let valid = ids.filter(DesktopEntry.isValidID)
        #expect(valid.count > 3000 && valid.contains { $0.utf8.count == 255 })
        #expect(valid.filter { !TopicName($0).isValid } == [])
        // A topic may begin with a punctuation mark, and a desktop file that the agent reads may not.
        #expect(TopicName("-a").isValid && !DesktopEntry.isValidID("-a"))
    }
}
