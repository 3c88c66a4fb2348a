// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushCore
internal import PushNet
internal import PushServing
internal import Synchronization

/// The rates of many keys, in a table of fixed size that all loops share without a lock.
///
/// A full bucket is equivalent to no bucket, so a slot matters only for moments after a request. If a set has no free
/// slot, a new key takes over the slot with the fullest bucket; the former key then has a full bucket again. A full
/// table therefore errs in favor of its users. No key is refused because of other keys, and many keys of one attacker
/// give the others more.
///
/// ```
/// hash of a key ──▶ set of 4 slots, one cache line: [hash, full again][hash, full again][…][…]
/// ```
// Safety: slots contain only atomics, and the pointer never changes.
@safe final class RateTable: @unchecked Sendable {
    private struct Slot: ~Copyable {
        // Relaxed ordering suffices: a collision of two loops in a slot costs one of them at most one token.
        let hash = Atomic<UInt64>(0)
        /// The time at which the bucket is full again, in nanoseconds of `MonotonicTime`.
        let fullAt = Atomic<Int64>(0)

        var fullTime: MonotonicTime { MonotonicTime(nanoseconds: fullAt.load(ordering: .relaxed)) }
    }

    /// The result of a request.
    enum TakeResult: Equatable {
        case taken(remaining: Int64)
        case refused(waitNanoseconds: Int64)
    }

    let bucket: TokenBucket
    private let slots: UnsafeMutablePointer<Slot>
    private let setCount: Int
    private static let slotsPerSetCount = 4

    /// Creates an empty table, whose memory the kernel provides as it is used.
    ///
    /// - Parameters:
    ///   - bucket: The rate of each key.
    ///   - countMax: The number of slots: a power of two, at least 4.
    init(_ bucket: TokenBucket, countMax: Int) {
        self.bucket = bucket
        setCount = countMax / Self.slotsPerSetCount
        precondition(setCount > 0 && setCount & (setCount - 1) == 0, "the number of sets is a power of two")
        // An atomic integer consists of its bits, so the zero bytes of calloc(3) are empty slots. Pages that no key
        // needs stay untouched.
        guard let memory = unsafe calloc(countMax, MemoryLayout<Slot>.stride) else {
            preconditionFailure("no memory for a table of rates")
        }
        unsafe slots = memory.bindMemory(to: Slot.self, capacity: countMax)
    }

    deinit { unsafe free(slots) }

    /// Takes tokens from the bucket of a key.
    ///
    /// - Parameters:
    ///   - key: The key of the bucket.
    ///   - count: The number of tokens. A number above the bucket's size counts as all of them.
    ///   - now: The current time.
    /// - Returns: The remaining tokens, or the time to wait.
    func take(_ key: some Hashable, count: Int64 = 1, now: MonotonicTime) -> TakeResult {
        let index = slot(of: Self.hash(key), now: now)
        if let wait = unsafe bucket.take(count, from: slots[index].fullAt, now: now) {
            return .refused(waitNanoseconds: wait)
        }
        return .taken(remaining: bucket.remainingCount(fullAt: unsafe slots[index].fullTime, now: now))
    }

    /// Returns whether a key has no token left, without taking one.
    func isEmpty(_ key: some Hashable, now: MonotonicTime) -> Bool {
        let hash = Self.hash(key)
        for index in set(of: hash) where unsafe slots[index].hash.load(ordering: .relaxed) == hash {
            return bucket.remainingCount(fullAt: unsafe slots[index].fullTime, now: now) < 1
        }
        return false
    }

    /// Hashes a key with Swift's seed of this process, so that an attacker cannot choose keys that share a set.
    private static func hash(_ key: some Hashable) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(key)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    private func set(of hash: UInt64) -> Range<Int> {
        let first = Int(hash & UInt64(setCount - 1)) * Self.slotsPerSetCount
        return first..<first + Self.slotsPerSetCount
    }

    /// Returns the slot of a key, or takes over the slot of its set with the fullest bucket.
    private func slot(of hash: UInt64, now: MonotonicTime) -> Int {
        let set = set(of: hash)
        var (idlest, idlestFullAt) = (set.lowerBound, MonotonicTime.future)
        for index in set {
            if unsafe slots[index].hash.load(ordering: .relaxed) == hash { return index }
            let fullAt = unsafe slots[index].fullTime
            if fullAt < idlestFullAt { (idlest, idlestFullAt) = (index, fullAt) }
        }
        unsafe slots[idlest].hash.store(hash, ordering: .relaxed)
        if idlestFullAt > now { unsafe slots[idlest].fullAt.store(now.nanoseconds, ordering: .relaxed) }
        return idlest
    }
}
