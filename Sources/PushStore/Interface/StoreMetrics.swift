// SPDX-License-Identifier: Apache-2.0

package import PushAPI
package import PushNet

/// The numbers of the store, which its thread writes at the end of each turn.
///
/// A reader never waits for the store. It therefore also learns of a store that no longer answers.
package final class StoreMetrics: Sendable {
    /// A count of the store.
    package enum Number: Int, CaseIterable, Sendable {
        case apps, devices, devicesConnected, registrations, pending
        /// The notifications that are neither on the disk nor acknowledged.
        case unwritten
        /// The requests and broadcasts that wait for their slice.
        case waitingRequests
        case accepted, acknowledged, collapsed, expired, dropped, unregistered
        case ignoredAcknowledgements
        /// The position of the next event in the trace, in bytes.
        case traceEnd
        /// The size of the tables and indexes in PostgreSQL, in bytes; 0 for a store in SQLite.
        case byteCount
    }

    /// The durations of transactions, with the synchronization of the disk; in PostgreSQL, of batches.
    package let commit = DurationHistogram()
    /// The times from a delivery to its acknowledgement, of devices that no host holds.
    package let acknowledgement = DurationHistogram()
    /// The numbers of the node; nil for a store in SQLite.
    package let cluster: ClusterMetrics?
    /// The number of commands that wait for the next turn; written while the queue is locked.
    package let waitingCommands: MetricCell
    /// The time that all turns have taken so far, in nanoseconds.
    private let busy = MetricCell()
    /// The time at which the current turn began, in nanoseconds of `MonotonicTime`; 0 between two turns.
    private let turnBegan = MetricCell()
    private let numbers = MetricCells(count: Number.allCases.count)
    private let outcomes = MetricCells(count: DeviceAPI.Outcome.allCases.count)

    /// Creates the numbers of a store whose queue counts its commands in a cell.
    package init(waitingCommands: MetricCell = MetricCell(), cluster: ClusterMetrics? = nil) {
        self.waitingCommands = waitingCommands
        self.cluster = cluster
    }

    package subscript(number: Number) -> Int64 { numbers[number.rawValue] }

    /// Returns the number of outcomes of a kind that devices reported.
    package func count(of outcome: DeviceAPI.Outcome) -> Int64 {
        DeviceAPI.Outcome.allCases.firstIndex(of: outcome).map { outcomes[$0] } ?? 0
    }

    /// Returns the time that all turns have taken, including the current one.
    package func busyNanoseconds(now: MonotonicTime) -> Int64 { busy.value + turnNanoseconds(now: now) }

    /// Returns the time since the current turn began; 0 between two turns.
    package func turnNanoseconds(now: MonotonicTime) -> Int64 {
        let began = turnBegan.value
        return began == 0 ? 0 : max(0, now.nanoseconds - began)
    }

    // MARK: For the store's thread

    package func beginTurn(at now: MonotonicTime) { turnBegan.set(now.nanoseconds) }

    package func endTurn(at now: MonotonicTime) {
        busy.add(max(0, now.nanoseconds - turnBegan.value))
        turnBegan.set(0)
    }

    package func set(_ number: Number, to value: Int) { numbers.set(Int64(value), at: number.rawValue) }

    package func setOutcomes(_ counts: [DeviceAPI.Outcome: Int]) {
        for (index, outcome) in DeviceAPI.Outcome.allCases.enumerated() {
            outcomes.set(Int64(counts[outcome] ?? 0), at: index)
        }
    }
}
