// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import Synchronization

/// The rate of each device token, in a table of fixed size that all loops share without a lock.
///
/// A bucket that is full again is the same as none. So a slot is worth something only for moments after a request, and the
/// one that owes least is taken over when a set has none free: then that device token begins anew, with a full bucket.
/// Nobody is refused for another's requests.
///
/// ```
/// hash of (device, topic) ──▶ set of 4 slots, one cache line: [hash, full again][hash, full again][…][…]
/// ```
// Safety: slots hold nothing but atomics, and the pointer never changes.
@safe final class DeviceRates: @unchecked Sendable {
    private struct Slot: ~Copyable {
        // Ordered with nothing: two loops that meet in a slot cost one of them a token at most.
        let hash = Atomic<UInt64>(0)
        let fullAt = Atomic<Int64>(0)
    }

    /// What comes of a request.
    enum Taking: Equatable {
        case taken(remaining: Int64)
        case refused(waitNanoseconds: Int64)
    }

    let bucket: TokenBucket
    private let slots: UnsafeMutablePointer<Slot>
    private let setCount: Int
    private static let slotsPerSetCount = 4

    /// Makes an empty table.
    ///
    /// - Parameters:
    ///   - bucket: The rate of each device token.
    ///   - countMax: Slots; a power of two, at least 4.
    init(_ bucket: TokenBucket, countMax: Int = Limits.deviceRateCountMax) {
        self.bucket = bucket
        setCount = countMax / Self.slotsPerSetCount
        precondition(setCount > 0 && setCount & (setCount - 1) == 0, "the number of sets is a power of two")
        unsafe slots = .allocate(capacity: countMax)
        for index in 0..<countMax { unsafe (slots + index).initialize(to: Slot()) }
    }

    deinit {
        unsafe slots.deinitialize(count: setCount * Self.slotsPerSetCount)
        unsafe slots.deallocate()
    }

    /// Takes a request to a device token.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - topic: The app on it.
    ///   - now: Monotonic nanoseconds.
    /// - Returns: What is left, or how long to wait.
    func take(_ device: DeviceID, _ topic: TopicID, now: Int64) -> Taking {
        // Swift's own hash has a key of this process: nobody can choose who shares a set with whom.
        var hasher = Hasher()
        hasher.combine(device.rawValue)
        hasher.combine(topic.rawValue)
        let index = slot(of: UInt64(bitPattern: Int64(hasher.finalize())), now: now)
        if let wait = unsafe bucket.take(from: slots[index].fullAt, now: now) { return .refused(waitNanoseconds: wait) }
        let fullAt = unsafe slots[index].fullAt.load(ordering: .relaxed)
        return .taken(remaining: bucket.remainingCount(fullAt: fullAt, now: now))
    }

    /// The slot of a device token, else the one of its set that owes least.
    private func slot(of hash: UInt64, now: Int64) -> Int {
        let first = Int(hash & UInt64(setCount - 1)) * Self.slotsPerSetCount
        var (idlest, idlestFullAt) = (first, Int64.max)
        for index in first..<first + Self.slotsPerSetCount {
            if unsafe slots[index].hash.load(ordering: .relaxed) == hash { return index }
            let fullAt = unsafe slots[index].fullAt.load(ordering: .relaxed)
            if fullAt < idlestFullAt { (idlest, idlestFullAt) = (index, fullAt) }
        }
        unsafe slots[idlest].hash.store(hash, ordering: .relaxed)
        if idlestFullAt > now { unsafe slots[idlest].fullAt.store(now, ordering: .relaxed) }
        return idlest
    }
}
