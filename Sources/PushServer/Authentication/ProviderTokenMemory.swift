// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushStore

/// The valid provider tokens of one connection.
///
/// They are remembered so that each one is verified once, and counted so that a provider does not create a new one for
/// each notification.
///
/// ```
/// unknown ──verified──▶ remembered ──8 newer ones──▶ forgotten
///            └─ the 6th in 20 minutes ─▶ TooManyProviderTokenUpdates
/// ```
struct ProviderTokenMemory {
    /// A provider token that was valid when it was verified.
    final class Entry {
        /// The compact token, byte for byte.
        let compact: [UInt8]
        let keyID: String
        let issuedAt: Timestamp

        init(compact: [UInt8], keyID: String, issuedAt: Timestamp) {
            self.compact = compact
            self.keyID = keyID
            self.issuedAt = issuedAt
        }
    }

    /// The tokens, last used first.
    private var entries: [Entry] = []
    /// The times at which a new token replaced the others, oldest first.
    private var updates: [MonotonicTime] = []

    /// Finds a token that was verified before, and moves it to the front.
    mutating func recall(_ compact: Span<UInt8>) -> Entry? {
        for index in entries.indices {
            let entry = entries[index]
            let known = entry.compact
            guard Bytes.areEqual(known.span, compact) else { continue }
            if index > 0 { entries.insert(entries.remove(at: index), at: 0) }
            return entry
        }
        return nil
    }

    /// Remembers a token that was just verified, unless it is one too many.
    ///
    /// Signatures are random, so the same claims may arrive as different bytes. Those are not an update.
    ///
    /// - Parameters:
    ///   - entry: The token.
    ///   - countMax: The number of updates allowed in `Limits.providerTokenUpdateSeconds`.
    ///   - now: The current time.
    /// - Returns: False if the token is one too many.
    mutating func remember(_ entry: Entry, updateCountMax countMax: Int, now: MonotonicTime) -> Bool {
        let isNew = !entries.contains {
            $0.keyID == entry.keyID && $0.issuedAt == entry.issuedAt
        }
        if isNew, !entries.isEmpty {
            updates.removeAll { now >= $0.advanced(bySeconds: Limits.providerTokenUpdateSeconds) }
            guard updates.count < countMax else { return false }
            updates.append(now)
        }
        entries.insert(entry, at: 0)
        if entries.count > Limits.rememberedProviderTokenCountMax { entries.removeLast() }
        return true
    }
}
