// SPDX-License-Identifier: Apache-2.0

internal import PushHTTP
internal import PushStore

/// The continuation of an exchange that waits for the store, kept as the exchange's context.
final class StoreContinuation {
    let complete: (Result<StoreAnswer, StoreRefusal>, HTTPExchange) -> Void

    init(_ complete: @escaping (Result<StoreAnswer, StoreRefusal>, HTTPExchange) -> Void) {
        self.complete = complete
    }
}

extension ServerLoop {
    /// Sends a request to the store and passes the answer to `then` on this loop, if the exchange still exists.
    func perform(
        _ request: StoreRequest, for exchange: HTTPExchange, on connection: ServerConnection,
        then: @escaping (Result<StoreAnswer, StoreRefusal>, HTTPExchange) -> Void
    ) {
        // The exchange may be refused before the store answers, on a connection that is closing.
        exchange.context = StoreContinuation { result, exchange in
            if !exchange.isAnswered { then(result, exchange) }
        }
        submit(.perform(request, answer: connection.address(of: exchange)))
    }
}
