// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
package import PushSQLite

/// A subscription that the server ended or refused.
package struct EndedSubscription: Sendable, Equatable {
    /// The app.
    package var appID: String
    /// The channel id.
    package var channel: String
    /// What the server said.
    package var reason: String
}

extension Agent {
    /// How many ended subscriptions are remembered for the status.
    static let endedSubscriptionCountMax = 100

    /// How far a subscription got when its caller is answered.
    package enum SubscriptionState: String, Sendable {
        /// The server has it.
        case active
        /// It is kept here, and the server is told as soon as it can be reached.
        case pending
    }

    /// Subscribes an app to a broadcast channel; also while there is no server.
    ///
    /// - Parameters:
    ///   - channel: The channel id as the provider gives it to the app.
    ///   - appID: The app.
    ///   - completion: Gets how far it got; a refusal when the server does not want it.
    package func subscribe(
        _ channel: String, of appID: String, completion: @escaping (Result<SubscriptionState, AgentRefusal>) -> Void
    ) {
        let id: String
        do throws(AgentRefusal) {
            id = try Self.channelID(channel)
            guard try want(id, of: appID) else { return completion(.success(.active)) }
        } catch {
            return completion(.failure(error))
        }
        agentLog.info("subscribed", ["app": appID, "channel": id])
        forgetEnded(id, of: appID)
        observer?.settingsChanged(appID: appID)
        guard let link else { return completion(.success(.pending)) }
        link.registrar.whenKnown(id, of: appID) { answer in
            switch answer {
            case .held: completion(.success(.active))
            case .pending: completion(.success(.pending))
            case .refused(let error): completion(.failure(AgentRefusal(error)))
            }
        }
    }

    /// Ends an app's subscription; from now on nothing of the channel is shown, whenever the server hears of it.
    package func unsubscribe(_ channel: String, of appID: String) throws(AgentRefusal) {
        let id = try Self.channelID(channel)
        let isEnded = try asking { () throws(SQLiteError) in
            try database.transaction { () throws(SQLiteError) in
                guard try database.subscriptions.unwant(id, of: appID) else { return false }
                // Without a server there is nobody to tell.
                if identity == nil { _ = try database.subscriptions.remove(id, of: appID, whileIn: .unwanted) }
                return true
            }
        }
        forgetEnded(id, of: appID)
        guard isEnded else {
            throw AgentRefusal(.unknownChannel, "The app '\(appID)' has no subscription to the channel '\(id)'.")
        }
        agentLog.info("unsubscribed", ["app": appID, "channel": id])
        observer?.settingsChanged(appID: appID)
        link?.registrar.setNeedsFlush()
    }

    /// The channels that an app listens to, in the order in which it began.
    package func subscriptions(
        of appID: String
    ) throws(AgentRefusal) -> [(channel: String, state: SubscriptionState)] {
        try asking { () throws(SQLiteError) in try database.subscriptions.all(of: appID) }
            .filter { $0.state != .unwanted }.map { ($0.channel, $0.state == .held ? .active : .pending) }
    }

    /// One line about the subscriptions that the server ended; empty for none.
    var notice: String {
        guard let last = endedSubscriptions.last else { return "" }
        let text = "\(last.appID) no longer listens to the channel \(last.channel): \(last.reason)"
        let others = endedSubscriptions.count - 1
        return others == 0 ? text : "\(text) (and \(others) more)"
    }

    /// Remembers the wish; false when the server has the subscription already.
    private func want(_ channel: String, of appID: String) throws(AgentRefusal) -> Bool {
        let (app, all) = try asking { () throws(SQLiteError) in
            (try database.apps.app(id: appID), try database.subscriptions.all(of: appID))
        }
        guard app != nil else { throw .unknownApp(appID) }
        let earlier = all.first { $0.channel.utf8.elementsEqual(channel.utf8) }
        guard earlier != nil || all.count < Limits.subscriptionPerAppCountMax else {
            throw AgentRefusal(
                .tooMany, "An app may listen to \(Limits.subscriptionPerAppCountMax) channels on a device, not more.")
        }
        guard earlier?.state != .held else { return false }
        try asking { () throws(SQLiteError) in try database.subscriptions.want(channel, of: appID) }
        return true
    }

    /// The channel id in its one spelling.
    private static func channelID(_ text: String) throws(AgentRefusal) -> String {
        guard let id = ChannelID(text: text.utf8.span) else {
            throw AgentRefusal(.badChannelID, "'\(text)' is no channel id: that is 24 characters of base64.")
        }
        return id.text
    }

    private func forgetEnded(_ channel: String, of appID: String) {
        endedSubscriptions.removeAll {
            $0.channel.utf8.elementsEqual(channel.utf8) && $0.appID.utf8.elementsEqual(appID.utf8)
        }
    }

    /// Says so where somebody looks: in the log, in the status, and to the app.
    package func registrar(
        endedSubscriptionTo channel: String, of appID: String, because error: ServerError
    ) {
        agentLog.warning("subscription_ended", ["app": appID, "channel": channel, "error": error.message])
        forgetEnded(channel, of: appID)
        if endedSubscriptions.count >= Self.endedSubscriptionCountMax { endedSubscriptions.removeFirst() }
        endedSubscriptions.append(EndedSubscription(appID: appID, channel: channel, reason: error.message))
        observer?.subscriptionEnded(appID: appID, channel: channel, reason: error.word ?? "unknown")
        observer?.settingsChanged(appID: appID)
        observer?.statusChanged()
    }

    /// Trouble with the disk is everybody's.
    package func registrar(failed error: SQLiteError) { databaseFailed(error) }
}
