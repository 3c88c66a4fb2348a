// SPDX-License-Identifier: Apache-2.0

/// The promises of an engine to providers and devices, where the contract lets PostgreSQL promise less than SQLite.
///
/// Everything else is the same on both engines: answers, order, redelivery, expiry, collapse IDs, filters,
/// registrations, subscriptions and restarts.
struct EnginePromises: Equatable {
    /// Whether commands that are submitted together take effect in their order.
    ///
    /// In PostgreSQL, workers perform requests and broadcasts while the node accepts notifications.
    var ordersCommands: Bool
    /// Whether a broadcast that waits for a device has its place among the device's notifications.
    ///
    /// With PostgreSQL, a new stream receives the waiting notifications first, then the broadcasts.
    var ordersWaitingBroadcasts: Bool
    /// Whether a now-or-never broadcast is lost on a stream whose window is full.
    ///
    /// With PostgreSQL, the broadcast waits in memory as long as the stream exists.
    var dropsBroadcastsAtFullWindow: Bool
    /// Whether a notification that another one with its collapse ID has replaced leaves the window of a stream.
    ///
    /// With PostgreSQL, the notification counts until the device acknowledges it or the stream ends.
    var replacementsLeaveWindow: Bool
    /// Whether a now-or-never notification leaves the window when the device acknowledges it in a request that does not
    /// reach the stream's node with the device's ID.
    ///
    /// With PostgreSQL, nothing of the notification is stored, so another node does not know it.
    var requestsAcknowledgeNowOrNever: Bool
    /// The number of notifications that are written for a device until the bounds are applied; 1 for at once.
    var rowsUntilBound: Int
    /// Whether a notification that needs no storage is refused after the end of its registration, even if its device is
    /// away.
    ///
    /// In PostgreSQL, only notifications that are written or delivered are compared with their registrations. A
    /// now-or-never notification is never written.
    var checksUnwritten: Bool
    /// Whether an acknowledgement is ignored that a device sends before it has received the notification.
    ///
    /// PostgreSQL has the history of a device a minute later, so there the acknowledgement removes what waits.
    var ignoresAcknowledgementsBeforeDelivery: Bool
    /// Whether the counters include every end of a notification exactly once, since the store was opened.
    ///
    /// In PostgreSQL, they are those of all nodes since the first start. A now-or-never broadcast counts as expired at once, and rows count when they are found.
    var countsEnds: Bool

    static let sqlite = EnginePromises(
        ordersCommands: true, ordersWaitingBroadcasts: true, dropsBroadcastsAtFullWindow: true,
        replacementsLeaveWindow: true, requestsAcknowledgeNowOrNever: true, rowsUntilBound: 1, checksUnwritten: true,
        ignoresAcknowledgementsBeforeDelivery: true, countsEnds: true)

    static let postgres = EnginePromises(
        ordersCommands: false, ordersWaitingBroadcasts: false, dropsBroadcastsAtFullWindow: false,
        replacementsLeaveWindow: false, requestsAcknowledgeNowOrNever: false, rowsUntilBound: 32,
        checksUnwritten: false, ignoresAcknowledgementsBeforeDelivery: false, countsEnds: false)
}
