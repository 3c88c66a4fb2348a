// SPDX-License-Identifier: Apache-2.0

/// The work of a node under the former assignment of devices to shards.
///
/// While this work lasts, the node confirms only the former version of the control data. A move of slots copies devices
/// only when all nodes have confirmed the new version.
struct SlotSettlement {
    /// The last version of the control data before the new assignment.
    let formerVersion: Int64
    /// The number of workers that have not done their earlier jobs.
    private var workerCount: Int
    /// The changes that wait for the end of this work.
    private var groups: [ChangeGroup]

    /// Creates the settlement after a version, and takes over the changes that wait for an earlier settlement.
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

    /// Lets a change wait for the end of the settlement.
    mutating func add(_ group: ChangeGroup?) {
        guard let group else { return }
        group.await()
        groups.append(group)
    }

    mutating func noteConfirmed() { workerCount -= 1 }

    func end() { for group in groups { group.applied() } }
}
