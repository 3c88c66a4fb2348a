// SPDX-License-Identifier: Apache-2.0

/// The time from a new assignment of devices to shards until a node does nothing more by the former one.
///
/// Until then, the node confirms no later version of the control data. So a move of slots knows when no node changes
/// them.
struct SlotSettlement {
    /// The last version of the control data before the new assignment.
    let formerVersion: Int64
    /// The number of workers that have not done their earlier jobs.
    private var workerCount: Int
    /// The changes that are complete when the assignment is in force.
    private var groups: [ChangeGroup]

    /// Creates the settlement after a version, which takes over the changes of an earlier one.
    ///
    /// - Parameters:
    ///   - version: The last version before the new assignment.
    ///   - workerCount: The number of workers that will report that their earlier jobs are done.
    ///   - earlier: The settlement that has not ended, if there is one.
    init(after version: Int64, _ workerCount: Int, _ earlier: SlotSettlement?) {
        formerVersion = version
        self.workerCount = workerCount + (earlier?.workerCount ?? 0)
        groups = earlier?.groups ?? []
    }

    var isConfirmed: Bool { workerCount == 0 }

    /// Lets a change wait for the end.
    mutating func add(_ group: ChangeGroup?) {
        guard let group else { return }
        group.await()
        groups.append(group)
    }

    mutating func noteConfirmed() { workerCount -= 1 }

    func end() { for group in groups { group.applied() } }
}
