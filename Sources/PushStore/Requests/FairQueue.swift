// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// A task that a `FairQueue` attributes to a principal.
package protocol FairTask: AnyObject {
    var principal: RequestPrincipal { get }
}

/// The waiting tasks, in lanes.
///
/// Lanes take turns, and in each lane its principals take turns. The tasks of one principal keep their order: after one
/// is taken, the principal has no turn until `release` or `putBack`.
package final class FairQueue<Task: FairTask> {
    private struct Waiting {
        var tasks = FIFOQueue<Task>()
        /// Whether the principal is in the lane's order.
        var hasTurn = true
    }

    private struct Lane {
        var waiting: [RequestPrincipal: Waiting] = [:]
        var order = FIFOQueue<RequestPrincipal>()
        var count = 0
    }

    private var lanes = RequestPrincipal.Lane.allCases.map { _ in Lane() }
    private var nextLane = 0
    package private(set) var count = 0

    package init() {}

    /// Whether no task waits.
    var isEmpty: Bool { count == 0 }

    /// Whether a principal has a turn now.
    var hasTurn: Bool { lanes.contains { !$0.order.isEmpty } }

    /// Adds a task after the others of its principal.
    ///
    /// - Parameter task: The task.
    /// - Returns: False when too many wait already, of the principal or in its lane.
    package func append(_ task: Task) -> Bool {
        let principal = task.principal
        let lane = principal.lane.rawValue
        let waitingCount = lanes[lane].waiting[principal]?.tasks.count ?? 0
        guard waitingCount < principal.waitingCountMax,
            lanes[lane].count < WriterLimits.waitingRequestPerLaneCountMax || principal == .server
        else { return false }
        if lanes[lane].waiting[principal] == nil {
            lanes[lane].waiting[principal] = Waiting()
            lanes[lane].order.append(principal)
        }
        lanes[lane].waiting[principal]?.tasks.append(task)
        lanes[lane].count += 1
        count += 1
        return true
    }

    /// Takes the next task; returns nil if no principal has a turn.
    package func next() -> Task? {
        for offset in lanes.indices {
            let lane = (nextLane + offset) % lanes.count
            guard let principal = lanes[lane].order.popFirst() else { continue }
            nextLane = (lane + 1) % lanes.count
            lanes[lane].waiting[principal]?.hasTurn = false
            guard let task = lanes[lane].waiting[principal]?.tasks.popFirst() else { continue }
            lanes[lane].count -= 1
            count -= 1
            return task
        }
        return nil
    }

    /// Gives the principal of a finished task its next turn, unless it has one.
    package func release(_ task: Task) {
        let principal = task.principal
        let lane = principal.lane.rawValue
        guard let waiting = lanes[lane].waiting[principal], !waiting.hasTurn else { return }
        guard !waiting.tasks.isEmpty else {
            lanes[lane].waiting[principal] = nil
            return
        }
        lanes[lane].waiting[principal]?.hasTurn = true
        lanes[lane].order.append(principal)
    }

    /// Queues an unfinished task again, before the others of its principal.
    package func putBack(_ task: Task) {
        let principal = task.principal
        let lane = principal.lane.rawValue
        lanes[lane].waiting[principal, default: Waiting(hasTurn: false)].tasks.prepend(task)
        lanes[lane].count += 1
        count += 1
        release(task)
    }

    /// Removes and returns all tasks, in no particular order.
    func removeAll() -> [Task] {
        let tasks = lanes.flatMap { $0.waiting.values.flatMap { $0.tasks.all() } }
        lanes = RequestPrincipal.Lane.allCases.map { _ in Lane() }
        (nextLane, count) = (0, 0)
        return tasks
    }
}
