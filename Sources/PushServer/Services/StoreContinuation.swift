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
