// SPDX-License-Identifier: Apache-2.0

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
        evict()
    }

    /// Changes a value in place; its entry then counts as used.
    ///
    /// - Parameters:
    ///   - key: The key of the value.
    ///   - fresh: The initial value of a new key.
    ///   - body: Changes the value.
    mutating func change(_ key: Key, from fresh: @autoclosure () -> Value, _ body: (inout Value) -> Void) {
        let earlier = older.removeValue(forKey: key)
        body(&newer[key, default: earlier ?? fresh()])
        evict()
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

    /// Evicts the older half if the newer one is full.
    private mutating func evict() {
        guard newer.count >= halfCount else { return }
        older = newer
        newer = [:]
    }
}
