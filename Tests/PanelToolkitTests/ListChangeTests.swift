// SPDX-License-Identifier: Apache-2.0

@testable import PanelToolkit
import TestSupport
import Testing

struct ListChangeTests {
    private func change(_ old: String, _ new: String) -> ListChange {
        ListChange(from: old.map { String($0) }, to: new.map { String($0) })
    }

    private func applied(_ change: ListChange, to old: [String]) -> [String] {
        var list = old
        for splice in change.splices {
            list.replaceSubrange(splice.position..<splice.position + splice.removedCount, with: splice.added)
        }
        return list
    }

    @Test func `unchanged rows are not touched`() {
        #expect(change("", "").splices == [])
        #expect(change("abc", "abc").splices == [])
        let added = change("abc", "abxc").splices
        #expect(added.map(\.position) == [2] && added.map(\.removedCount) == [0] && added.map(\.added) == [["x"]])
        let removed = change("abc", "ac").splices
        #expect(removed.map(\.position) == [1] && removed.map(\.removedCount) == [1] && removed.map(\.added) == [[]])
    }

    @Test func `a section that moves to the top leaves the other rows in place`() {
        let splices = change("ABCDEFxy", "xyABCDEF").splices
        #expect(splices.reduce(0) { $0 + $1.removedCount } == 2)
        #expect(splices.flatMap(\.added) == ["x", "y"])
    }

    @Test(arguments: 0..<100) func `any list can be changed into any other`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let keys = (0..<20).map { "\($0)" }
        let old = Array(keys.shuffled(using: &random).prefix(Int.random(in: 0...20, using: &random)))
        let new = Array(keys.shuffled(using: &random).prefix(Int.random(in: 0...20, using: &random)))
        #expect(applied(ListChange(from: old, to: new), to: old) == new, "seed \(seed)")
    }
}
