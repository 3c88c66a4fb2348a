// SPDX-License-Identifier: Apache-2.0

/// The violations and the counts that a simulation found.
struct SimulationFindings: Equatable, CustomStringConvertible {
    /// The number of accepted notifications.
    let acceptedCount: Int
    /// The accepted notifications that the device did not have two seconds after everything was repaired.
    let lateCount: Int
    /// The accepted notifications that the device did not have after a new connection.
    let lostCount: Int
    /// The pairs of notifications of one provider that arrived in the wrong order.
    let disorderCount: Int
    /// The number of notifications that were sent again to a device that had them.
    let repetitionCount: Int
    /// The number of rows that were left although their devices had them.
    let rowCount: Int
    /// The number of streams that were left although their devices had later ones on other nodes.
    let strayCount: Int
    /// The number of such streams that waited for the review, which compares all streams with PostgreSQL each minute.
    ///
    /// A stream waits for the review only if answers about it are lost twice.
    let reviewedCount: Int
    /// A digest of the run.
    let trace: UInt64

    init(_ simulation: Simulation, late: [SimulatedProvider.Sent], reviewedCount: Int) {
        let all = simulation.providers.flatMap(\.sent)
        // A device that is away does not get what is now or never. Another notification with the same collapse ID
        // replaces it, unless it was answered before.
        func mayBeMissing(_ sent: SimulatedProvider.Sent) -> Bool {
            if sent.isNowOrNever { return true }
            guard let collapseID = sent.collapseID else { return false }
            return all.contains {
                $0.device === sent.device && $0.collapseID == collapseID && $0.number != sent.number
                    && $0.acceptedAt ?? .infinity > sent.sentAt
            }
        }
        let accepted = all.filter { $0.acceptedAt != nil }
        acceptedCount = accepted.count
        lateCount = late.count { !mayBeMissing($0) }
        lostCount = accepted.count { !$0.device.hasReceived($0) && !mayBeMissing($0) }
        var disorderCount = 0
        for provider in simulation.providers {
            var last = -1
            for sent in provider.accepted {
                guard let position = provider.device.position(of: sent.uniqueID) else { continue }
                if position < last { disorderCount += 1 }
                last = max(last, position)
            }
        }
        self.disorderCount = disorderCount
        repetitionCount = simulation.devices.reduce(0) { $0 + $1.repetitionCount }
        rowCount = simulation.shard.rowCount
        strayCount = simulation.strayStreamCount
        self.reviewedCount = reviewedCount
        trace = simulation.trace
    }

    var isClean: Bool { lateCount == 0 && lostCount == 0 && disorderCount == 0 && strayCount == 0 }

    var description: String {
        "accepted \(acceptedCount), late \(lateCount), lost \(lostCount), out of order \(disorderCount), sent again "
            + "\(repetitionCount), rows left \(rowCount), streams left \(strayCount), reviewed \(reviewedCount)"
    }
}
