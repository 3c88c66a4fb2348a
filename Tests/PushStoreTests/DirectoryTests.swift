// SPDX-License-Identifier: Apache-2.0

import PushCore
import PushStore
import Testing

/// Comparisons of the apps and keys before and after a change.
struct DirectoryTests {
    @Test func `after additions, everything is allowed that was allowed before`() {
        let before = Directory(version: 1, topics: [:], keys: [:], revokedCertificates: [[1], [2]])
        var after = before
        after.version = 2
        after.policyVersion = 3
        after.revokedCertificates = [[1]]
        #expect(after.allowsAll(allowedBy: before))
        #expect(!before.allowsAll(allowedBy: after))
    }

    @Test func `what a removed or changed app allowed is no longer allowed`() {
        let app = Topic(id: TopicID(rawValue: 1), name: "com.example.App", teamID: "TEAM000000")
        let before = Directory(version: 1, topics: [app.id: app], keys: [:])
        let without = Directory(version: 2, topics: [:], keys: [:])
        #expect(before.allowsAll(allowedBy: without) && !without.allowsAll(allowedBy: before))
        var changed = app
        changed.teamID = "TEAM000001"
        let after = Directory(version: 2, topics: [app.id: changed], keys: [:])
        #expect(!after.allowsAll(allowedBy: before))
    }
}
