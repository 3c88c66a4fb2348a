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
        /// The number of devices for which it cannot be executed yet.
        var blockCount: Int

        init(_ command: StoreCommand, _ devices: [DeviceID]) {
            self.command = command
            self.devices = devices
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

    /// Returns whether a host holds the queue of a device, or commands wait for it.
    func isBusy(_ device: DeviceID) -> Bool { devices[device] != nil }

    /// Records that a queue is handed over.
    func hand(_ queue: DeviceQueue, to host: UInt32) { devices[queue.device] = Device(queue: queue, host: host) }

    /// Parks a command until the queues of devices are back.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - needed: The devices; those that are not busy are ignored.
    ///   - recall: Called with each device whose queue must be recalled, and the loop of its host.
    /// - Returns: Whether the command was parked; otherwise it can be executed now.
    func park(_ command: StoreCommand, until needed: [DeviceID], recall: (DeviceID, UInt32) -> Void) -> Bool {
        let busy = needed.filter { devices[$0] != nil }
        guard !busy.isEmpty else { return false }
        let parked = Parked(command, busy)
        for device in busy {
            guard var held = devices[device] else { continue }
            held.parked.append(parked)
            if !held.isHere, !held.isRecalled {
                held.isRecalled = true
                recall(device, held.host)
            }
            devices[device] = held
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

    /// Unblocks the first parked command of a device; makes it ready if no other device blocks it.
    private func advance(_ device: DeviceID) {
        guard let first = devices[device]?.parked.first else { return devices[device] = nil }
        first.blockCount -= 1
        guard first.blockCount == 0 else { return }
        ready.append(first.command)
        for device in first.devices {
            _ = devices[device]?.parked.popFirst()
            advance(device)
        }
    }
}
