// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import PushCore
internal import PushNet
internal import PushSQL

/// A subscription that the server ended or refused.
struct EndedSubscription: Sendable, Equatable {
    var appID: AppID
    var channel: String
    /// The server's message.
    var reason: String
}

/// The subscriptions of apps to broadcast channels.
package final class SubscriptionService {
    /// The maximum number of ended subscriptions that the status remembers.
    private static let endedCountMax = 100

    /// The state of a subscription.
    enum State: String, Sendable {
        /// The server has the subscription.
        case active
        /// The subscription is stored here and is sent as soon as the server can be reached.
        case pending
    }

    /// Subscriptions that the server ended, until the app subscribes or unsubscribes again.
    private var ended: [EndedSubscription] = []
    private let database: AgentDatabase
    private let link: ServerLink
    private let changes: ChangeNotifier
    private let failures: DatabaseFailures

    init(_ context: AgentContext) {
        database = context.database
        link = context.link
        changes = context.changes
        failures = context.failures
    }

    /// Subscribes an app to a broadcast channel, also while the device is not enrolled.
    ///
    /// - Parameters:
    ///   - channel: The channel ID that the provider gives to the app.
    ///   - appID: The app.
    /// - Returns: The state.
    /// - Throws: The refusal of this agent or of the server.
    func subscribe(_ channel: String, of appID: AppID) async throws(AgentRefusal) -> State {
        let id = try Self.channelID(channel)
        guard try request(id, of: appID) else { return .active }
        agentLog.info("subscribed", ["app": appID.text, "channel": id])
        forgetEnded(id, of: appID)
        changes.observer?.settingsChanged(appID: appID)
        switch await link.clients?.registrar.answer(about: id, of: appID) {
        case .active: return .active
        case .pending, nil: return .pending
        case .refused(let error): throw AgentRefusal(error)
        }
    }

    /// Ends an app's subscription; nothing of the channel is shown from now on, even before the server knows.
    func unsubscribe(_ channel: String, of appID: AppID) throws(AgentRefusal) {
        let id = try Self.channelID(channel)
        let isEnded = try failures.refusing { () throws(SQLError) in
            try database.transaction { () throws(SQLError) in
                guard try database.subscriptions.requestEnd(id, of: appID) else { return false }
                // Without a server there is nothing to unsubscribe from.
                if link.identity == nil { _ = try database.subscriptions.remove(id, of: appID, whileIn: .ending) }
                return true
            }
        }
        forgetEnded(id, of: appID)
        guard isEnded else {
            throw AgentRefusal(.unknownChannel, "App '\(appID)' is not subscribed to channel '\(id)'.")
        }
        agentLog.info("unsubscribed", ["app": appID.text, "channel": id])
        changes.observer?.settingsChanged(appID: appID)
        link.clients?.registrar.setNeedsFlush()
    }

    /// Returns the channels that an app is subscribed to, in the order of subscription.
    func all(
        of appID: AppID
    ) throws(AgentRefusal) -> [(channel: String, state: State)] {
        try failures.refusing { () throws(SQLError) in try database.subscriptions.all(of: appID) }
            .filter { $0.state != .ending }.map { ($0.channel, $0.state == .confirmed ? .active : .pending) }
    }

    /// One line about the subscriptions that the server ended; empty if there are none.
    var notice: String {
        guard let last = ended.last else { return "" }
        let text = "The subscription of \(last.appID) to channel \(last.channel) ended: \(last.reason)"
        let others = ended.count - 1
        return others == 0 ? text : "\(text) (and \(others) more)"
    }

    /// Stores the requested subscription; returns false when the server has it already.
    private func request(_ channel: String, of appID: AppID) throws(AgentRefusal) -> Bool {
        let (app, all) = try failures.refusing { () throws(SQLError) in
            (try database.apps.app(id: appID), try database.subscriptions.all(of: appID))
        }
        guard app != nil else { throw .unknownApp(appID) }
        let earlier = all.first { $0.channel.utf8.elementsEqual(channel.utf8) }
        guard earlier != nil || all.count < Limits.subscriptionPerAppCountMax else {
            throw AgentRefusal(
                .tooMany, "An app can subscribe to at most \(Limits.subscriptionPerAppCountMax) channels on a device.")
        }
        guard earlier?.state != .confirmed else { return false }
        try failures.refusing { () throws(SQLError) in try database.subscriptions.request(channel, of: appID) }
        return true
    }

    /// Returns the channel ID in its canonical spelling.
    private static func channelID(_ text: String) throws(AgentRefusal) -> String {
        guard let id = ChannelID(text: text.utf8.span) else {
            throw AgentRefusal(.badChannelID, "Invalid channel ID '\(text)': use 24 characters of base64.")
        }
        return id.text
    }

    private func forgetEnded(_ channel: String, of appID: AppID) {
        ended.removeAll {
            $0.channel.utf8.elementsEqual(channel.utf8) && $0.appID == appID
        }
    }

    /// Forgets the ended subscriptions of an app; of all apps if it is nil.
    func forgetEnded(of appID: AppID?) {
        guard let appID else { return ended = [] }
        ended.removeAll { $0.appID == appID }
    }

    /// Reports an ended subscription in the log, in the status and to the app.
    func subscriptionEnded(_ channel: String, of appID: AppID, because error: ServerFailure) {
        agentLog.warning("subscription_ended", ["app": appID.text, "channel": channel, "error": error.message])
        forgetEnded(channel, of: appID)
        if ended.count >= Self.endedCountMax { ended.removeFirst() }
        ended.append(EndedSubscription(appID: appID, channel: channel, reason: error.message))
        changes.observer?.subscriptionEnded(appID: appID, channel: channel, reason: error.word ?? "unknown")
        changes.observer?.settingsChanged(appID: appID)
        changes.observer?.statusChanged()
    }
}
