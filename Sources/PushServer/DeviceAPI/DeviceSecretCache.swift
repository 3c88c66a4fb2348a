// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// A cache of device secrets: which device each belongs to, and which belong to none.
///
/// The cache decides whether a request is worth reading before the store has seen it, and nothing else: the store checks the
/// secret again when it executes the request, so an entry that is out of date authorizes nothing. Unknown secrets have a
/// small map of their own, so that guesses cannot evict the secrets of devices.
///
/// The loops share it: a device that enrolled through one loop is known to the others at once. The lock is held for a look
/// into a dictionary, once for each request of a device and never for a notification.
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

    /// Makes an empty cache.
    ///
    /// - Parameters:
    ///   - deviceCountMax: Secrets of devices that are kept.
    ///   - strangerCountMax: Unknown secrets that are kept.
    init(
        deviceCountMax: Int = Limits.deviceSecretCacheCountMax,
        strangerCountMax: Int = Limits.unknownSecretCacheCountMax
    ) {
        entries = Lock(
            Entries(
                devices: RecentMap(countMax: deviceCountMax), strangers: RecentMap(countMax: strangerCountMax)))
    }

    /// Looks a secret's hash up; nil when the store must be asked.
    func find(_ secretHash: [UInt8]) -> Finding? {
        let key = Key(secretHash)
        return entries.withLock { entries in
            if let device = entries.devices.find(key) { return .device(device) }
            return entries.strangers.find(key) == nil ? nil : .stranger
        }
    }

    /// Notes the device that the store named.
    func insert(_ device: DeviceID, for secretHash: [UInt8]) {
        let key = Key(secretHash)
        entries.withLock { entries in
            entries.strangers.remove(key)
            entries.devices.insert(device, for: key)
        }
    }

    /// Notes that the store knows no device with this secret, or not any more.
    func insertStranger(_ secretHash: [UInt8]) {
        let key = Key(secretHash)
        entries.withLock { entries in
            entries.devices.remove(key)
            entries.strangers.insert(true, for: key)
        }
    }
}

/// A bounded map that evicts what was not used for long.
///
/// There are two halves. Entries go into the newer one and move there when they are used; when it is full it becomes the older
/// one, and what the older one still held is evicted. So the last `countMax / 2` used entries are always there.
struct RecentMap<Key: Hashable, Value> {
    private var newer: [Key: Value] = [:]
    private var older: [Key: Value] = [:]
    private let halfCount: Int

    /// Makes an empty map of at most `countMax` entries.
    init(countMax: Int) { halfCount = max(1, countMax / 2) }

    /// Entries that are kept.
    var count: Int { newer.count + older.count }

    /// Finds an entry, which is then used.
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

    mutating func remove(_ key: Key) {
        newer[key] = nil
        older[key] = nil
    }
}
