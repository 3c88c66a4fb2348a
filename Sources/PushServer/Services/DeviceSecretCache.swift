// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

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
        case unknown
    }

    /// The first half of a secret's SHA-256; an attacker cannot choose a secret that collides with another one.
    private struct Key: Hashable {
        let high: UInt64
        let low: UInt64

        init(_ credential: DeviceCredential) {
            func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
            high = number(credential.secretHash.prefix(8))
            low = number(credential.secretHash.dropFirst(8).prefix(8))
        }
    }

    private struct Entries {
        var devices: RecentMap<Key, DeviceID>
        var unknown: RecentMap<Key, Bool>
    }

    private let entries: Lock<Entries>

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - deviceCountMax: The number of device secrets to keep.
    ///   - unknownCountMax: The number of unknown secrets to keep.
    init(
        deviceCountMax: Int = Limits.deviceSecretCacheCountMax,
        unknownCountMax: Int = Limits.unknownSecretCacheCountMax
    ) {
        entries = Lock(
            Entries(
                devices: RecentMap(countMax: deviceCountMax), unknown: RecentMap(countMax: unknownCountMax)))
    }

    /// Looks up a secret; returns nil if the store must be asked.
    func find(_ credential: DeviceCredential) -> Finding? {
        let key = Key(credential)
        return entries.withLock { entries in
            if let device = entries.devices.find(key) { return .device(device) }
            return entries.unknown.find(key) == nil ? nil : .unknown
        }
    }

    /// Records the device that the store returned for a secret.
    func insert(_ device: DeviceID, for credential: DeviceCredential) {
        let key = Key(credential)
        entries.withLock { entries in
            entries.unknown.remove(key)
            entries.devices.insert(device, for: key)
        }
    }

    /// Forgets the secrets of a device that was removed or received a new secret; reads the whole cache.
    func remove(_ device: DeviceID) {
        entries.withLock { $0.devices.removeAll { $0 == device } }
    }

    /// Records that the store does not know a device with this secret.
    func insertUnknown(_ credential: DeviceCredential) {
        let key = Key(credential)
        entries.withLock { entries in
            entries.devices.remove(key)
            entries.unknown.insert(true, for: key)
        }
    }
}
