// SPDX-License-Identifier: Apache-2.0

/// Changes that other nodes must have applied before a request is answered.
///
/// The answer waits until each node that is concerned has applied the change, or cannot deliver any more because its
/// lease is over.
package final class ChangeGroup {
    private var waitCount = 1
    private var finish: (() -> Void)?

    package init() {}

    /// Waits for one more node.
    func await() { waitCount += 1 }

    /// Records that a node has applied its part.
    func applied() {
        waitCount -= 1
        if waitCount == 0 { finish?() }
    }

    /// Calls a closure when all parts are applied, at once if they are; called once.
    package func whenApplied(_ action: @escaping () -> Void) {
        finish = action
        applied()
    }
}

/// A change of a device that its host must apply.
final class DeviceChange {
    let group: ChangeGroup

    init(_ group: ChangeGroup) {
        self.group = group
        group.await()
    }
}
