// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushCore
internal import PushNet
internal import Synchronization

/// The loops that host devices: an open-addressing hash table, which every loop reads without a lock.
///
/// An entry may be missing or stale for a moment after a queue changed its owner. A notification then goes to the
/// store, directly or through the host that the entry names, and the store passes it to the owner.
// Safety: `state` guards the changes; the slots contain only atomics.
final class HostTable: @unchecked Sendable {
    /// The part of the table that a reader uses until the table is rebuilt.
    // Safety: the slots contain only atomics, and the pointer never changes.
    @safe final class Snapshot: @unchecked Sendable {
        fileprivate struct Slot: ~Copyable {
            /// The device; 0 for an empty slot.
            ///
            /// A slot keeps its device until the table is rebuilt.
            let device = Atomic<UInt64>(0)
            /// The index of the host's loop plus 1; 0 without a host.
            let host = Atomic<UInt32>(0)
        }

        private let slots: UnsafeMutablePointer<Slot>
        private let mask: Int

        /// Creates an empty table; `capacity` is a power of two.
        fileprivate init(capacity: Int) {
            mask = capacity - 1
            // An atomic integer consists of its bits, so the zero bytes of calloc(3) are empty slots.
            guard let memory = unsafe calloc(capacity, MemoryLayout<Slot>.stride) else {
                preconditionFailure("no memory for the table of hosts")
            }
            unsafe slots = memory.bindMemory(to: Slot.self, capacity: capacity)
        }

        deinit { unsafe free(slots) }

        var capacity: Int { mask + 1 }

        /// Returns the loop that hosts a device; nil if none is known.
        func host(of device: DeviceID) -> UInt32? {
            var index = Self.hash(device) & mask
            while true {
                let found = unsafe slots[index].device.load(ordering: .acquiring)
                if found == device.rawValue {
                    let host = unsafe slots[index].host.load(ordering: .acquiring)
                    return host == 0 ? nil : host - 1
                }
                guard found != 0 else { return nil }
                index = (index + 1) & mask
            }
        }

        /// Sets or removes the host of a device; returns whether this filled an empty slot.
        ///
        /// Only one thread at a time may call it.
        fileprivate func set(_ host: UInt32?, of device: DeviceID) -> Bool {
            var index = Self.hash(device) & mask
            while true {
                let found = unsafe slots[index].device.load(ordering: .relaxed)
                if found == device.rawValue || found == 0 {
                    guard found != 0 || host != nil else { return false }
                    unsafe slots[index].host.store(host.map { $0 + 1 } ?? 0, ordering: .releasing)
                    if found == 0 { unsafe slots[index].device.store(device.rawValue, ordering: .releasing) }
                    return found == 0
                }
                index = (index + 1) & mask
            }
        }

        fileprivate func forEachHosted(_ body: (DeviceID, UInt32) -> Void) {
            for index in 0...mask {
                let host = unsafe slots[index].host.load(ordering: .relaxed)
                guard host > 0 else { continue }
                body(DeviceID(rawValue: unsafe slots[index].device.load(ordering: .relaxed)), host - 1)
            }
        }

        /// Mixes the bits of a device ID, which the server chose at random.
        private static func hash(_ device: DeviceID) -> Int {
            Int(truncatingIfNeeded: (device.rawValue &* 0x9E37_79B9_7F4A_7C15) >> 20)
        }
    }

    private struct State {
        var snapshot: Snapshot
        /// The number of slots with a device, hosted or not.
        var usedCount = 0
        var hostedCount = 0
    }

    private static let capacityMin = 1024

    private let state = Lock(State(snapshot: Snapshot(capacity: capacityMin)))
    /// The number of rebuilds.
    private let version = Atomic<Int>(0)

    /// A view of the table for one loop.
    struct Reader {
        private let table: HostTable
        private var version: Int
        private var snapshot: Snapshot

        init(_ table: HostTable) {
            self.table = table
            version = table.version.load(ordering: .acquiring)
            snapshot = table.state.withLock { $0.snapshot }
        }

        /// Returns the loop that hosts a device; nil if none is known.
        mutating func host(of device: DeviceID) -> UInt32? {
            let newest = table.version.load(ordering: .acquiring)
            if newest != version {
                version = newest
                snapshot = table.state.withLock { $0.snapshot }
            }
            return snapshot.host(of: device)
        }
    }

    /// Sets the host of a device.
    func insert(_ host: UInt32, of device: DeviceID) {
        let isRebuilt = state.withLock { state in
            let mustGrow = 2 * (state.usedCount + 1) > state.snapshot.capacity
            if mustGrow { Self.rebuild(&state) }
            if state.snapshot.host(of: device) == nil { state.hostedCount += 1 }
            if state.snapshot.set(host, of: device) { state.usedCount += 1 }
            return mustGrow
        }
        if isRebuilt { version.add(1, ordering: .releasing) }
    }

    /// Removes a device, unless another loop hosts it now.
    func remove(_ device: DeviceID, hostedBy host: UInt32) {
        state.withLock { state in
            guard state.snapshot.host(of: device) == host else { return }
            _ = state.snapshot.set(nil, of: device)
            state.hostedCount -= 1
        }
    }

    /// Copies the hosted devices to a new table, which readers use from their next look-up on.
    private static func rebuild(_ state: inout State) {
        var capacity = capacityMin
        while capacity < 4 * (state.hostedCount + 1) { capacity *= 2 }
        let snapshot = Snapshot(capacity: capacity)
        var count = 0
        state.snapshot.forEachHosted { device, host in
            _ = snapshot.set(host, of: device)
            count += 1
        }
        (state.snapshot, state.usedCount) = (snapshot, count)
    }
}
