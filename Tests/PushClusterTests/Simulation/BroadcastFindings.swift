// SPDX-License-Identifier: Apache-2.0

/// The violations and the counts of a simulation's broadcasts.
struct BroadcastFindings: Equatable, CustomStringConvertible {
    /// The number of accepted broadcasts.
    private(set) var acceptedCount = 0
    /// The accepted stored broadcasts that a device did not have two seconds after everything was repaired.
    private(set) var lateCount = 0
    /// The accepted stored broadcasts that a device did not have after a new connection.
    private(set) var lostCount = 0
    /// The pairs of stored broadcasts of one publisher that arrived in the wrong order.
    private(set) var disorderCount = 0
    /// The same pairs, with now-or-never broadcasts among them.
    private(set) var mixedDisorderCount = 0
    /// The number of broadcasts that arrived twice on one stream.
    private(set) var doubleCount = 0
    /// The number of now-or-never broadcasts that arrived at a device.
    private(set) var nowOrNeverCount = 0

    /// Creates the findings of a run.
    ///
    /// - Parameters:
    ///   - simulation: The run.
    ///   - late: The broadcasts that each device did not have before the last connection.
    init(_ simulation: Simulation, late: [(SimulatedDevice, UInt64)]) {
        for device in simulation.devices {
            doubleCount += device.doubleCount
            for publisher in simulation.publishers { check(publisher, device, simulation, late) }
        }
        acceptedCount = simulation.publishers.reduce(0) { $0 + $1.accepted.count }
    }

    private mutating func check(
        _ publisher: SimulatedPublisher, _ device: SimulatedDevice, _ simulation: Simulation,
        _ late: [(SimulatedDevice, UInt64)]
    ) {
        // A later broadcast of the channel replaces an earlier one for a device that is away.
        let ofChannel = simulation.publishers.filter { $0.channel == publisher.channel }.flatMap(\.sent)
        var last = -1
        for sent in publisher.accepted {
            let mayBeMissing =
                !sent.isStored
                || ofChannel.contains {
                    $0.isStored && $0.uniqueID != sent.uniqueID && $0.acceptedAt ?? .infinity > sent.sentAt
                }
            if !mayBeMissing {
                if late.contains(where: { $0.0 === device && $0.1 == sent.uniqueID }) { lateCount += 1 }
                if device.position(of: sent.uniqueID) == nil { lostCount += 1 }
            }
            guard let position = device.position(of: sent.uniqueID) else { continue }
            if !sent.isStored { nowOrNeverCount += 1 }
            if position < last { mixedDisorderCount += 1 }
            last = max(last, position)
            guard sent.isStored else { continue }
            disorderCount += publisher.accepted.count { later in
                later.isStored && later.sentAt > sent.sentAt && isDisorder(sent, later, position, device)
            }
        }
    }

    /// Returns whether a device received a broadcast behind a later one that its node must have known.
    ///
    /// A device that changes its node may find one that has not heard of the later broadcast yet.
    private func isDisorder(
        _ sent: SimulatedPublisher.Sent, _ later: SimulatedPublisher.Sent, _ position: Int, _ device: SimulatedDevice
    ) -> Bool {
        guard let other = device.position(of: later.uniqueID), other < position,
            let arrival = device.arrivals[sent.uniqueID], let otherArrival = device.arrivals[later.uniqueID]
        else { return false }
        return arrival.connectedAt == otherArrival.connectedAt || later.acceptedAt ?? .infinity <= arrival.connectedAt
    }

    var isClean: Bool { lateCount == 0 && lostCount == 0 && disorderCount == 0 && doubleCount == 0 }

    var description: String {
        "broadcasts accepted \(acceptedCount), late \(lateCount), lost \(lostCount), out of order \(disorderCount), "
            + "with now-or-never \(mixedDisorderCount), twice on a stream \(doubleCount)"
    }
}
