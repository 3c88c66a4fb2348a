// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AgentPanel

struct UndoableClearingTests {
    private final class Inbox {
        var removed: [Int64] = []
        var changeCount = 0
    }

    private let inbox = Inbox()

    private func clearing() -> UndoableClearing {
        UndoableClearing(
            remove: { [inbox] in inbox.removed += $0 }, onChange: { [inbox] in inbox.changeCount += 1 })
    }

    @Test func `a cleared entry is hidden at once, and removed when its message disappears`() {
        let clearing = clearing()
        clearing.clear(1)
        #expect(clearing.hidden == [1] && inbox.removed == [] && inbox.changeCount == 1)
        clearing.commit(1)
        #expect(clearing.hidden == [1] && inbox.removed == [1])
        clearing.commit(1)
        #expect(inbox.removed == [1])
    }

    @Test func `a cleared entry is counted until the agent counts again after its removal`() {
        let clearing = clearing()
        clearing.clear(1)
        clearing.noteCount()
        #expect(clearing.counted == [1], "it is not removed yet")
        clearing.commit(1)
        #expect(clearing.counted == [1])
        clearing.noteCount()
        #expect(clearing.counted == [])
        clearing.clear(2)
        clearing.undo(2)
        #expect(clearing.counted == [])
    }

    @Test func `undo shows the entry again, and nothing is removed`() {
        let clearing = clearing()
        clearing.clear(1)
        clearing.undo(1)
        clearing.commit(1)
        #expect(clearing.hidden == [] && inbox.removed == [] && inbox.changeCount == 2)
    }

    @Test func `the next clearing ends the time for undoing the one before`() {
        let clearing = clearing()
        clearing.clear(1)
        clearing.clear(2)
        clearing.undo(1)
        #expect(inbox.removed == [1] && clearing.hidden == [1, 2])
        clearing.commit()
        #expect(inbox.removed == [1, 2])
    }
}
