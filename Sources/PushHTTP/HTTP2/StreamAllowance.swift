// SPDX-License-Identifier: Apache-2.0

/// The number of streams that a peer may have open at the same time, and what it knows about that number.
struct StreamAllowance {
    /// The number that the owner allows; nil until the peer has authenticated.
    private(set) var allowedCount: Int?
    /// The number in the SETTINGS that we send.
    private(set) var advertisedCount: Int
    /// Whether the peer has acknowledged SETTINGS.
    var isAcknowledged = false

    init(advertisedCount: Int) { self.advertisedCount = advertisedCount }

    /// Whether the peer may not know the limit yet, or that it is lower before authentication.
    var isEarly: Bool { !isAcknowledged || allowedCount == nil }

    /// The number of streams that may be open at the same time.
    ///
    /// Before the owner calls `allow`, only a few are allowed, whatever SETTINGS say. An unauthenticated peer that has
    /// not read SETTINGS may assume 100 (RFC 9113, section 6.5.2); one that has read a smaller number must keep to it.
    /// Afterwards, a peer that has not read SETTINGS may open more streams than they will announce.
    var countMax: Int {
        guard let allowedCount else {
            let count = HTTPBounds.streamCountBeforeAuthentication
            return isAcknowledged ? min(advertisedCount, count) : count
        }
        return isAcknowledged ? allowedCount : max(allowedCount, HTTPBounds.earlyStreamCountMax)
    }

    /// Sets the number of allowed streams; returns whether the peer must be told.
    mutating func allow(_ count: Int) -> Bool {
        allowedCount = count
        defer { advertisedCount = count }
        return count != advertisedCount
    }
}
