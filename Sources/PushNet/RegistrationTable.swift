// SPDX-License-Identifier: Apache-2.0

/// A loop's registrations: slots that are used again, each with a generation that changes whenever its slot is freed.
///
/// An event that epoll handed out before a handler deregistered carries the old generation and finds nothing.
struct RegistrationTable {
    /// What one slot holds while it is in use.
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

    /// Puts an entry into a free slot; constant time, amortised.
    mutating func insert(_ entry: Entry) -> Registration {
        if let slot = free.popLast() {
            slots[Int(slot)].entry = entry
            return Registration(slot: slot, generation: slots[Int(slot)].generation)
        }
        slots.append(Slot(entry: entry))
        return Registration(slot: UInt32(slots.count - 1), generation: 0)
    }

    /// The entry, nil when the registration is stale.
    subscript(registration: Registration) -> Entry? {
        let index = Int(registration.slot)
        guard index < slots.count, slots[index].generation == registration.generation else { return nil }
        return slots[index].entry
    }

    /// Notes what a live registration is now watched for.
    mutating func update(_ registration: Registration, readiness: Readiness) {
        slots[Int(registration.slot)].entry?.readiness = readiness
    }

    /// Frees the slot.
    ///
    /// The entry is returned, so that its handler is released only after the table is whole again: the handler's deinit
    /// may call back.
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
    /// What epoll keeps for us beside the descriptor.
    var epollData: UInt64 { UInt64(generation) << 32 | UInt64(slot) }

    init(epollData: UInt64) {
        self.init(
            slot: UInt32(truncatingIfNeeded: epollData), generation: UInt32(truncatingIfNeeded: epollData >> 32))
    }
}
