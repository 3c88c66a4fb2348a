// SPDX-License-Identifier: Apache-2.0

/// The registrations of a loop: reusable slots, each with a generation that changes whenever the slot is freed.
///
/// An event that epoll reported before its handler deregistered carries the old generation and finds no entry.
struct ReadinessTable {
    /// The contents of a slot in use.
    struct Entry {
        let descriptor: Int32
        var readiness: Readiness
        let handler: any EventHandler
    }

    private struct Slot {
        var generation: UInt32 = 0
        var entry: Entry?
    }

    private var slots: [Slot] = []
    private var free: [UInt32] = []

    /// Puts an entry into a free slot; amortized constant time.
    mutating func insert(_ entry: Entry) -> Registration {
        if let slot = free.popLast() {
            slots[Int(slot)].entry = entry
            return Registration(slot: slot, generation: slots[Int(slot)].generation)
        }
        slots.append(Slot(entry: entry))
        return Registration(slot: UInt32(slots.count - 1), generation: 0)
    }

    /// The entry of a registration; nil if the registration is stale.
    subscript(registration: Registration) -> Entry? {
        let index = Int(registration.slot)
        guard index < slots.count, slots[index].generation == registration.generation else { return nil }
        return slots[index].entry
    }

    /// Records the watched events of a live registration.
    mutating func update(_ registration: Registration, readiness: Readiness) {
        slots[Int(registration.slot)].entry?.readiness = readiness
    }

    /// Frees the slot and returns its entry.
    ///
    /// The handler must be released only after the table is consistent again, because its deinit may call back; so the
    /// entry is returned.
    ///
    /// - Parameter registration: The registration to remove.
    /// - Returns: The entry; nil if the registration is stale.
    mutating func remove(_ registration: Registration) -> Entry? {
        guard let entry = self[registration] else { return nil }
        let index = Int(registration.slot)
        slots[index].entry = nil
        slots[index].generation &+= 1
        free.append(registration.slot)
        return entry
    }
}

extension Registration {
    /// The user data that epoll stores with the descriptor.
    var epollData: UInt64 { UInt64(generation) << 32 | UInt64(slot) }

    init(epollData: UInt64) {
        self.init(
            slot: UInt32(truncatingIfNeeded: epollData), generation: UInt32(truncatingIfNeeded: epollData >> 32))
    }
}
