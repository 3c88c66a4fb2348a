// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushServing
internal import PushStore

/// `/v1/apps/TOPIC/channels`: the destinations of broadcasts.
struct AdminChannels: AdminResource {
    let services: LoopServices
    /// The topic of the app that the channels belong to.
    let topic: TopicName
    let takesParameters = true

    private static let newChannel = AdminBody(members: [
        AdminBody.environment,
        AdminBody.Member(
            name: "message_storage_policy",
            kind: .number(0...1, meaning: "0, which keeps nothing, or 1, which keeps the last broadcast")),
    ])

    func answer(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String],
        _ parameters: [AdminTarget.Parameter]
    ) {
        let environment: Environment?
        do throws(BadParameter) {
            environment = try Self.environment(in: parameters)
        } catch {
            return ControlAnswer.refuse(
                exchange, status: 400, "BadParameter",
                "Unknown parameter. Allowed: environment, which must be production or development.")
        }
        switch (exchange.method, rest.count) {
        case (.get, 0):
            perform(.control(.channels(topic: topic, environment: environment)), exchange, connection) {
                answer, exchange in
                if case .channels(let channels) = answer {
                    ControlAnswer.send(exchange, AdminAPI.Channels(channels: channels))
                }
            }
        case (.post, 0): addChannel(exchange, connection, environment)
        case (_, 0): AdminAnswer.refuseMethod(exchange, allowed: "GET, POST")
        case (.get, 1), (.delete, 1): one(exchange, connection, id: rest[0], environment)
        case (_, 1): AdminAnswer.refuseMethod(exchange, allowed: "GET, DELETE")
        default: AdminAnswer.refusePath(exchange)
        }
    }

    private func addChannel(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ parameter: Environment?
    ) {
        guard let body = Self.newChannel.read(AdminAPI.NewChannel.self, of: exchange) else { return }
        guard parameter == nil || body.environment == nil || parameter == body.environment else {
            return ControlAnswer.refuse(
                exchange, status: 400, "BadParameter", "The parameter environment contradicts the body.")
        }
        let environment = body.environment ?? parameter ?? .production
        let id = ChannelID.random()
        let create = ControlRequest.createChannel(
            id, topic: topic, environment: environment, policy: body.messageStoragePolicy ?? .mostRecentMessageStored)
        let lookUp = ControlRequest.channel(id, topic: topic, environment: environment)
        perform(.control(create), thenLookUp: .control(lookUp), exchange, connection) { answer, exchange in
            if case .channel(let channel) = answer { ControlAnswer.send(exchange, status: 201, channel) }
        }
    }

    /// Shows or removes a channel of the specified environment, or else of the environment that has it.
    private func one(
        _ exchange: HTTPExchange, _ connection: ServerConnection, id: String, _ environment: Environment?
    ) {
        guard let channel = ChannelID(text: Array(id.utf8).span) else {
            return ControlAnswer.refuse(exchange, .unknownChannel)
        }
        let request = Self.request(exchange.method, channel, topic: topic, environment ?? .production)
        services.perform(.control(request), for: exchange, on: connection) { [self] result, exchange in
            switch result {
            case .success(let answer): Self.send(answer, exchange)
            case .failure(.unknownChannel) where environment == nil:
                let other = Self.request(exchange.method, channel, topic: topic, .development)
                perform(.control(other), exchange, connection, Self.send)
            case .failure(let refusal): ControlAnswer.refuse(exchange, refusal)
            }
        }
    }

    private static func request(
        _ method: Method, _ channel: ChannelID, topic: TopicName, _ environment: Environment
    ) -> ControlRequest {
        method == .delete
            ? .removeChannel(channel, topic: topic, environment: environment)
            : .channel(channel, topic: topic, environment: environment)
    }

    private static func send(_ answer: StoreAnswer, _ exchange: HTTPExchange) {
        if case .channel(let channel) = answer {
            ControlAnswer.send(exchange, channel)
        } else {
            ControlAnswer.sendNothing(exchange)
        }
    }

    /// Returns the environment in the parameters, or nil without parameters.
    private static func environment(in parameters: [AdminTarget.Parameter]) throws(BadParameter) -> Environment? {
        guard let parameter = parameters.first else { return nil }
        guard parameters.count == 1, parameter.name == "environment",
            let environment = Environment(rawValue: parameter.value)
        else { throw BadParameter() }
        return environment
    }

    private struct BadParameter: Error {}
}
