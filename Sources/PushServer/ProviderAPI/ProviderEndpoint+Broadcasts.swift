// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushServing
internal import PushStore

extension ProviderEndpoint {
    /// `POST /4/broadcasts/apps/<topic>`: checks a broadcast and passes it to the store.
    func publish(_ request: ProviderRequest, topic range: Range<Int>) throws(Rejection) {
        let sender = try authenticate(request)
        guard let pushType = try request.pushType() else { throw Rejection(.missingPushType) }
        guard pushType == .liveactivity else {
            throw Rejection(.invalidPushType, "A broadcast requires apns-push-type liveactivity.")
        }
        let priority = try request.priority()
        guard let expiration = try request.expiration() else {
            throw Rejection(.badExpirationDate, "A broadcast requires apns-expiration: 0, or a time in UNIX seconds.")
        }
        let channel = try request.channelID()
        let app = try broadcastTopic(request.text(inPath: range), of: sender)
        let requestQuotas = try takeRequest(request, from: sender, app)
        let payload = try request.payload(byteCountMax: Limits.broadcastPayloadByteCountMax, kind: "a broadcast")
        let result = try payloadValidator.validate(
            payload, pushType, of: app, on: nil, isRequested: request.requestsLint, now: request.now)
        request.exchange.context = try takeNotification(request, for: requestQuotas, to: nil, result.warnings)
        try checkRoom()
        let broadcast = Broadcast(
            channel: channel, topic: app.topic.id, environment: request.environment, requestID: request.id.bytes,
            uniqueID: .random(services.random), suffixedTopic: app.topic.name.text + PushType.liveactivity.topicSuffix,
            priority: priority, expiration: expiration, payload: payload, acceptedAt: request.now)
        request.exchange.keep(broadcast.uniqueID)
        services.loop.submit(.publish(broadcast, answer: request.connection.address(of: request.exchange)))
    }

    /// Returns the app of a path, if it belongs to the sender and allows broadcasts.
    func broadcastTopic(_ name: String, of sender: Sender) throws(Rejection) -> TopicDirectory.Entry {
        let known = services.directory.topic(named: Array(name.utf8).span)
        guard let app = known, sender.mayManage(app) else {
            if known == nil, PushType.allCases.contains(where: { $0.isSuffix(of: name) }) {
                throw Rejection(.topicDisallowed, "The path must contain the app's topic without a suffix.")
            }
            throw Rejection(
                .topicMismatch, "No app with the topic in the path is available to \(sender.description).")
        }
        guard app.topic.allowsBroadcasts else {
            throw Rejection(
                .featureNotEnabled, "Allow broadcasts for the app: posthorn app set \(app.topic.name) --broadcasts on.")
        }
        return app
    }
}

extension PushType {
    /// Returns whether a topic ends with this type's suffix.
    fileprivate func isSuffix(of topic: String) -> Bool {
        !topicSuffix.isEmpty && topic.utf8.count > topicSuffix.utf8.count
            && topic.utf8.suffix(topicSuffix.utf8.count).elementsEqual(topicSuffix.utf8)
    }
}
