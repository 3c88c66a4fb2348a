// SPDX-License-Identifier: Apache-2.0

internal import PushHTTP
internal import PushStore

/// What happens with an exchange when the store has answered its request; kept as the exchange's context.
final class PendingCall {
    let complete: (Result<StoreAnswer, StoreRefusal>, HTTPExchange) -> Void

    init(_ complete: @escaping (Result<StoreAnswer, StoreRefusal>, HTTPExchange) -> Void) {
        self.complete = complete
    }
}

extension ServerLoop {
    /// Asks the store on behalf of an exchange; `then` gets the answer on this loop if the exchange is still there.
    func perform(
        _ request: StoreRequest, for exchange: HTTPExchange, on connection: ServerConnection,
        then: @escaping (Result<StoreAnswer, StoreRefusal>, HTTPExchange) -> Void
    ) {
        // It may be refused before the store answers, on a connection that ends.
        exchange.context = PendingCall { result, exchange in
            if !exchange.isAnswered { then(result, exchange) }
        }
        submit(.perform(request, answer: connection.address(of: exchange)))
    }
}
