// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushStore

/// A resource of the admin API, for example `/v1/keys`.
protocol AdminResource: StoreCaller {
    /// Whether requests may have parameters; if not, the endpoint refuses them.
    var takesParameters: Bool { get }

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - exchange: The request.
    ///   - connection: The connection of the request.
    ///   - rest: The parts of the path after the resource.
    ///   - parameters: The parameters of the request.
    func answer(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String],
        _ parameters: [AdminTarget.Parameter])
}

extension AdminResource {
    var takesParameters: Bool { false }
}

/// A part of the admin API that sends requests to the store.
protocol StoreCaller {
    var services: LoopServices { get }
}

extension StoreCaller {
    /// Sends a request to the store, and answers with its refusal or with `succeed`.
    func perform(
        _ request: StoreRequest, _ exchange: HTTPExchange, _ connection: ServerConnection,
        _ succeed: @escaping (StoreAnswer, HTTPExchange) -> Void = { ControlAnswer.sendNothing($1) }
    ) {
        let log = services.context.log
        services.perform(request, for: exchange, on: connection) { result, exchange in
            switch result {
            case .success(let answer):
                succeed(answer, exchange)
                if !exchange.isAnswered { ControlAnswer.refuseUnexpected(exchange, log) }
            case .failure(let refusal): ControlAnswer.refuse(exchange, refusal)
            }
        }
    }

    /// Sends a request to the store whose answer the next request needs; answers with its refusal.
    func lookUp(
        _ request: StoreRequest, _ exchange: HTTPExchange, _ connection: ServerConnection,
        then: @escaping (StoreAnswer, HTTPExchange) -> Void
    ) {
        services.perform(request, for: exchange, on: connection) { result, exchange in
            switch result {
            case .success(let answer): then(answer, exchange)
            case .failure(let refusal): ControlAnswer.refuse(exchange, refusal)
            }
        }
    }

    /// Sends a change to the store and, when it is done, a request for the result.
    func perform(
        _ change: StoreRequest, thenLookUp request: StoreRequest, _ exchange: HTTPExchange,
        _ connection: ServerConnection, _ succeed: @escaping (StoreAnswer, HTTPExchange) -> Void
    ) {
        services.perform(change, for: exchange, on: connection) { [self] result, exchange in
            switch result {
            case .success: perform(request, exchange, connection, succeed)
            case .failure(let refusal): ControlAnswer.refuse(exchange, refusal)
            }
        }
    }

    /// Returns the team of a request, by default the server's own, or answers 400 if it is malformed.
    func team(_ given: String?, _ exchange: HTTPExchange) -> String? {
        let teamID = given ?? services.context.installation.teamID
        guard Identifier.isValid(teamID) else {
            ControlAnswer.refuse(
                exchange, status: 400, "BadTeamID", "Invalid team ID: use ten characters of A-Z and 0-9.")
            return nil
        }
        return teamID
    }
}
