// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// A cache that maps device secrets to devices, and remembers secrets that belong to no device.
///
/// The cache only decides whether a request is worth reading before the store has seen it. The store checks the secret
/// again when it executes the request, so an outdated entry authorizes nothing. Unknown secrets have a small map of
/// their own, so that guesses cannot evict the secrets of devices.
///
/// All loops share the cache, so a device that enrolled through one loop is known to the others immediately. The lock
/// is held for one dictionary lookup, once for each request of a device and never for a notification.
final class DeviceSecretCache: Sendable {
    /// The result of a lookup.
    enum Finding: Equatable {
        case device(DeviceID)
        /// The store knows no device with this secret.
        case stranger
    }

    /// The first half of a secret's SHA-256; an attacker cannot choose a secret that collides with another one.
    private struct Key: Hashable {
        let high: UInt64
        let low: UInt64

        init(_ hash: [UInt8]) {
            func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
            high = number(hash.prefix(8))
            low = number(hash.dropFirst(8).prefix(8))
        }
    }

    private struct Entries {
        var devices: RecentMap<Key, DeviceID>
        var strangers: RecentMap<Key, Bool>
    }

    private let entries: Lock<Entries>

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - deviceCountMax: The number of device secrets to keep.
    ///   - strangerCountMax: The number of unknown secrets to keep.
    init(
        deviceCountMax: Int = Limits.deviceSecretCacheCountMax,
        strangerCountMax: Int = Limits.unknownSecretCacheCountMax
    ) {
        entries = Lock(
            Entries(
                devices: RecentMap(countMax: deviceCountMax), strangers: RecentMap(countMax: strangerCountMax)))
    }

    /// Looks up the hash of a secret; returns nil if the store must be asked.
    func find(_ secretHash: [UInt8]) -> Finding? {
        let key = Key(secretHash)
        return entries.withLock { entries in
            if let device = entries.devices.find(key) { return .device(device) }
            return entries.strangers.find(key) == nil ? nil : .stranger
        }
    }

    /// Records the device that the store returned for a secret.
    func insert(_ device: DeviceID, for secretHash: [UInt8]) {
        let key = Key(secretHash)
        entries.withLock { entries in
            entries.strangers.remove(key)
            entries.devices.insert(device, for: key)
        }
    }

    /// Forgets the secrets of a device that was removed or received a new secret; reads the whole cache.
    func remove(_ device: DeviceID) {
        entries.withLock { $0.devices.removeAll { $0 == device } }
    }

    /// Records that the store does not know a device with this secret.
    func insertStranger(_ secretHash: [UInt8]) {
        let key = Key(secretHash)
        entries.withLock { entries in
            entries.devices.remove(key)
            entries.strangers.insert(true, for: key)
        }
    }
}

/// A bounded map that evicts entries that were not used for a long time.
///
/// The map has two halves. Entries are inserted into the newer half and move there when they are used. When the newer
/// half is full, it becomes the older one, and the entries that remain in the former older half are evicted. The last
/// `countMax / 2` used entries are therefore always present.
struct RecentMap<Key: Hashable, Value> {
    private var newer: [Key: Value] = [:]
    private var older: [Key: Value] = [:]
    private let halfCount: Int

    /// Creates an empty map of at most `countMax` entries.
    init(countMax: Int) { halfCount = max(1, countMax / 2) }

    /// The number of entries.
    var count: Int { newer.count + older.count }

    /// Finds an entry, which then counts as used.
    mutating func find(_ key: Key) -> Value? {
        if let value = newer[key] { return value }
        guard let value = older.removeValue(forKey: key) else { return nil }
        insert(value, for: key)
        return value
    }

    mutating func insert(_ value: Value, for key: Key) {
        older[key] = nil
        newer[key] = value
        guard newer.count >= halfCount else { return }
        older = newer
        newer = [:]
    }

    /// Removes the entries with a value that the predicate accepts.
    mutating func removeAll(where isRemoved: (Value) -> Bool) {
        newer = newer.filter { !isRemoved($0.value) }
        older = older.filter { !isRemoved($0.value) }
    }

    mutating func remove(_ key: Key) {
        newer[key] = nil
        older[key] = nil
    }
}
