// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP

/// `/v1/ephemeral`: the requests of tests to an ephemeral server.
extension AdminEndpoint {
    func ephemeral(_ exchange: HTTPExchange, _ rest: [String]) {
        guard let testMode = services.context.testMode else {
            return ControlAnswer.refuse(
                exchange, status: 404, "NotEphemeral", "Start the server with --ephemeral for this.")
        }
        switch (exchange.method, rest) {
        case (.get, ["notifications"]):
            ControlAnswer.send(exchange, AdminAPI.Received(notifications: testMode.received.all))
        case (.delete, ["notifications"]):
            testMode.received.removeAll()
            ControlAnswer.sendNothing(exchange)
        case (_, ["notifications"]): Self.refuseMethod(exchange, allowed: "GET, DELETE")
        case (.post, ["fail"]): fail(exchange, testMode.failures)
        case (_, ["fail"]): Self.refuseMethod(exchange, allowed: "POST")
        default: Self.refusePath(exchange)
        }
    }

    private func fail(_ exchange: HTTPExchange, _ failures: InjectedFailures) {
        guard let body = ControlAnswer.body(AdminAPI.Fail.self, of: exchange) else { return }
        guard let reason = RejectionReason(rawValue: body.reason), (0...1_000_000).contains(body.count ?? 1) else {
            let known = RejectionReason.allCases.map(\.rawValue).joined(separator: ", ")
            return ControlAnswer.refuse(
                exchange, status: 400, "BadReason", "reason must be one of: \(known); count must be 0 to 1000000.")
        }
        failures.order(reason, count: body.count ?? 1)
        ControlAnswer.sendNothing(exchange)
    }
}
