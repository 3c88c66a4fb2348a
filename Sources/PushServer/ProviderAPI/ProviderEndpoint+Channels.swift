// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushStore

extension ProviderEndpoint {
    /// `/1/apps/<topic>/channels`: creates, reads or removes a channel.
    func manageChannels(_ request: ProviderRequest, topic range: Range<Int>) throws(Rejection) {
        let sender = try authenticate(request)
        let name = request.text(inPath: range)
        guard request.exchange.method != .post else {
            let policy = try ChannelConfiguration(request.exchange).policy
            let app = try broadcastTopic(name, of: sender)
            try takeRequest(request, from: sender, app)
            return create(policy, of: app.topic, request)
        }
        let channel = try request.channelID()
        let app = try broadcastTopic(name, of: sender)
        try takeRequest(request, from: sender, app)
        if request.exchange.method == .get {
            read(channel, of: app.topic, request)
        } else {
            remove(channel, of: app.topic, request)
        }
    }

    /// `GET /1/apps/<topic>/all-channels`: lists the channels of an app.
    func listChannels(_ request: ProviderRequest, topic range: Range<Int>) throws(Rejection) {
        let sender = try authenticate(request)
        let app = try broadcastTopic(request.text(inPath: range), of: sender)
        try takeRequest(request, from: sender, app)
        guard services.beginsListing(of: app.topic.teamID, request.exchange, on: request.connection) else {
            services.settings.rates.note(.providerListings)
            throw Rejection(
                .tooManyRequests, "Too many lists of the team's channels are open. Read them first.",
                retryAfterSeconds: 1)
        }
        perform(.channels(topic: app.topic.name, environment: request.environment), request) { answer, exchange in
            guard case .channels(let channels) = answer else { return }
            var body = Array("{\"channels\":[".utf8)
            for (index, channel) in channels.enumerated() {
                if index > 0 { body.append(UInt8(ascii: ",")) }
                JSONWriter.append(channel.channelID, to: &body)
            }
            body += "]}".utf8
            exchange.addField("content-type", "application/json")
            exchange.respond(status: 200, body: body)
        }
    }

    private func create(_ policy: MessageStoragePolicy, of topic: Topic, _ request: ProviderRequest) {
        let channel = ChannelID.random()
        let creation = ControlRequest.createChannel(
            channel, topic: topic.name, environment: request.environment, policy: policy)
        perform(creation, request) { _, exchange in
            exchange.addField("apns-channel-id", Array(channel.text.utf8).span)
            exchange.respond(status: 201)
        }
    }

    private func read(_ channel: ChannelID, of topic: Topic, _ request: ProviderRequest) {
        perform(.channel(channel, topic: topic.name, environment: request.environment), request) { answer, exchange in
            guard case .channel(let channel) = answer else { return }
            let policy = channel.messageStoragePolicy.rawValue
            exchange.addField("content-type", "application/json")
            exchange.respond(
                status: 200, body: Array("{\"message-storage-policy\":\(policy),\"push-type\":\"LiveActivity\"}".utf8))
        }
    }

    private func remove(_ channel: ChannelID, of topic: Topic, _ request: ProviderRequest) {
        perform(.removeChannel(channel, topic: topic.name, environment: request.environment), request) { _, exchange in
            exchange.respond(status: 204)
        }
    }

    private func perform(
        _ controlRequest: ControlRequest, _ request: ProviderRequest,
        _ succeed: @escaping (StoreAnswer, HTTPExchange) -> Void
    ) {
        let (condition, log, metrics) = (services.context.storeCondition, services.context.log, services.metrics)
        services.perform(.control(controlRequest), for: request.exchange, on: request.connection) { result, exchange in
            switch result {
            case .success(let answer):
                succeed(answer, exchange)
                guard !exchange.isAnswered else { return }
                // A defect of the server that must not end it.
                log.error("unexpected_store_answer", [:])
                ProviderAnswer.reject(exchange, Rejection(.internalServerError), countedBy: metrics)
            case .failure(let refusal):
                ProviderAnswer.reject(exchange, Rejection(refusal, condition), countedBy: metrics)
            }
        }
    }
}

extension Rejection {
    /// Converts a refusal of the store for a provider that manages channels.
    fileprivate init(_ refusal: StoreRefusal, _ condition: StoreCondition) {
        switch refusal {
        case .unknownChannel: self.init(.channelNotRegistered)
        case .tooMany: self.init(.cannotCreateChannelConfig)
        case .broadcastsNotAllowed: self.init(.featureNotEnabled)
        case .unknownTopic: self.init(.topicMismatch)
        case .busy:
            self.init(.tooManyRequests, "Too many channel requests are waiting. Try again.", retryAfterSeconds: 1)
        case .unavailable, .unconfirmed: self = condition.rejection
        case .alreadyExists, .unauthorized, .badEnrolmentCode, .unknownDevice, .unknownCode, .unknownKey, .unknownTeam,
            .unknownPolicy,
            .unknownCertificate, .unknownSendToken, .unknownNode, .nodeIsLive, .unknownShard, .shardNotEverywhere,
            .slotsAreMoving, .moveEnded, .oldNode, .noCluster, .draining, .keysUnchanged, .traceOff:
            self.init(.internalServerError)
        }
    }
}
