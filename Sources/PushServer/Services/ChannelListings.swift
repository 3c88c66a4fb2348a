// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushStore

/// The lists of all channels of an app that are under way on a loop, counted by team.
///
/// ```
/// request ──▶ at the store ──answer made──▶ unread ──answer read, or reset──▶ over
///             2 of a team, 8 in all         8 of a team
/// ```
/// The store's time and the memory of unread answers are bounded for each team, so that a team that reads nothing
/// cannot keep others from their lists. A list that is reset counts at the store until the store has answered.
struct ChannelListings {
    private var unreadCounts: [String: Int] = [:]
    private var atStore: [ReplyAddress: String] = [:]

    /// Counts a list; returns false if there are too many.
    mutating func begin(of team: String, at address: ReplyAddress) -> Bool {
        guard unreadCounts[team, default: 0] < Limits.listingUnreadPerTeamCountMax,
            atStore.count < Limits.listingPerLoopCountMax,
            atStore.values.count(where: { $0 == team }) < Limits.listingPerTeamCountMax
        else { return false }
        unreadCounts[team, default: 0] += 1
        atStore[address] = team
        return true
    }

    /// Notes the store's answer to any request at this address.
    mutating func answered(_ address: ReplyAddress) {
        guard !atStore.isEmpty else { return }
        atStore[address] = nil
    }

    /// Notes that an answer was read or dropped.
    mutating func end(of team: String) {
        guard let count = unreadCounts[team] else { return }
        unreadCounts[team] = count > 1 ? count - 1 : nil
    }
}
