// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The queues that the store handed over to hosts, and the commands that wait until queues are back.
///
/// ```
/// here ──handed──▶ held ──command for the device──▶ recalled ──returned──▶ here, commands executed in their order
/// ```
/// Only the writer's thread uses it.
final class Handovers {
    /// A command that waits until the queues of all its devices are back and the commands before it are executed.
    private final class Parked {
        let command: StoreCommand
        let devices: [DeviceID]
        /// Whether the command also concerns devices whose queues are not handed over yet.
        let isWide: Bool
        /// The number of devices for which it cannot be executed yet.
        var blockCount: Int

        init(_ command: StoreCommand, _ devices: [DeviceID], isWide: Bool) {
            self.command = command
            self.devices = devices
            self.isWide = isWide
            blockCount = devices.count
        }
    }

    /// A device whose queue is held by a host, or for which commands wait.
    private struct Device {
        /// The device's record, which must not be evicted while a host holds the queue.
        let queue: DeviceQueue
        /// The index of the host's loop.
        let host: UInt32
        var isHere = false
        var isRecalled = false
        var parked = FIFOQueue<Parked>()
    }

    private var devices: [DeviceID: Device] = [:]
    /// The number of parked commands that also concern devices whose queues are not handed over yet.
    private var wideCount = 0
    /// The commands that can be executed now, in order.
    private var ready: [StoreCommand] = []

    /// Whether no queue is held and no command waits.
    var isEmpty: Bool { devices.isEmpty }

    /// The devices whose queues are held, or for which commands wait.
    var all: [DeviceID] { devices.keys.sorted { $0.rawValue < $1.rawValue } }

    /// Returns the loop of the host that holds a device's queue; nil if none does, or if the queue is recalled.
    func host(of device: DeviceID) -> UInt32? {
        guard let held = devices[device], !held.isHere, !held.isRecalled else { return nil }
        return held.host
    }

    /// Whether a command waits before which no queue may be handed over.
    var hasWideCommand: Bool { wideCount > 0 }

    /// Returns whether another request can be parked.
    func hasRoom(for needed: [DeviceID], isWide: Bool) -> Bool {
        guard !isWide else { return wideCount < WriterLimits.parkedWideCommandCountMax }
        return needed.allSatisfy { devices[$0]?.parked.count ?? 0 < WriterLimits.parkedRequestCountMax }
    }

    /// Returns whether a host holds the queue of a device, or commands wait for it.
    func isBusy(_ device: DeviceID) -> Bool { devices[device] != nil }

    /// Records that a queue is handed over.
    func hand(_ queue: DeviceQueue, to host: UInt32) { devices[queue.device] = Device(queue: queue, host: host) }

    /// Parks a command until the queues of devices are back.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - needed: The devices; those that are not busy are ignored.
    ///   - isWide: Whether the command also concerns devices whose queues are not handed over yet.
    ///   - recall: Called with each device whose queue must be recalled, and the loop of its host.
    /// - Returns: Whether the command was parked; otherwise it can be executed now.
    func park(
        _ command: StoreCommand, until needed: [DeviceID], isWide: Bool, recall: (DeviceID, UInt32) -> Void
    ) -> Bool {
        let busy = needed.filter { devices[$0] != nil }
        guard !busy.isEmpty else { return false }
        let parked = Parked(command, busy, isWide: isWide)
        if isWide { wideCount += 1 }
        for device in busy {
            // The queue of commands changes in place, or each command would copy it.
            devices[device]?.parked.append(parked)
            self.recall(device) { host in recall(device, host) }
        }
        return true
    }

    /// Recalls the queue of a device without a command that needs it.
    func recall(_ device: DeviceID, _ recall: (UInt32) -> Void) {
        guard let held = devices[device], !held.isHere, !held.isRecalled else { return }
        devices[device]?.isRecalled = true
        recall(held.host)
    }

    /// Records that the queue of a device is back; returns its record, or nil if no host held it.
    func takeBack(_ device: DeviceID) -> DeviceQueue? {
        guard let held = devices[device], !held.isHere else { return nil }
        devices[device]?.isHere = true
        advance(device)
        return held.queue
    }

    /// Removes and returns the commands that can be executed now.
    func takeReady() -> [StoreCommand] {
        defer { ready = [] }
        return ready
    }

    /// Removes and returns all parked commands, which are not executed because the disk has failed.
    func removeParked() -> [StoreCommand] {
        var (seen, commands): (Set<ObjectIdentifier>, [StoreCommand]) = ([], [])
        for device in all {
            while let parked = devices[device]?.parked.popFirst() {
                if seen.insert(ObjectIdentifier(parked)).inserted { commands.append(parked.command) }
            }
        }
        wideCount = 0
        return commands + takeReady()
    }

    /// Unblocks the first parked command of a device that is here; makes those ready that no other device blocks.
    private func advance(_ device: DeviceID) {
        var unblocked = [device]
        while let device = unblocked.popLast() {
            guard let first = devices[device]?.parked.first else {
                devices[device] = nil
                continue
            }
            first.blockCount -= 1
            guard first.blockCount == 0 else { continue }
            if first.isWide { wideCount -= 1 }
            ready.append(first.command)
            for device in first.devices { _ = devices[device]?.parked.popFirst() }
            unblocked += first.devices
        }
    }
}
