// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP

/// `/v1/ephemeral`: the requests of tests to an ephemeral server.
extension TestMode: TestModeResource {
    func answer(_ exchange: HTTPExchange, _ rest: [String]) {
        switch (exchange.method, rest) {
        case (.get, ["notifications"]):
            ControlAnswer.send(exchange, TestModeAPI.Received(notifications: received.all))
        case (.delete, ["notifications"]):
            received.removeAll()
            ControlAnswer.sendNothing(exchange)
        case (_, ["notifications"]): AdminAnswer.refuseMethod(exchange, allowed: "GET, DELETE")
        case (.post, ["fail"]): fail(exchange)
        case (_, ["fail"]): AdminAnswer.refuseMethod(exchange, allowed: "POST")
        default: AdminAnswer.refusePath(exchange)
        }
    }

    private func fail(_ exchange: HTTPExchange) {
        guard let body = ControlAnswer.body(TestModeAPI.Fail.self, of: exchange) else { return }
        guard let reason = RejectionReason(rawValue: body.reason), (0...1_000_000).contains(body.count ?? 1) else {
            let known = RejectionReason.allCases.map(\.rawValue).joined(separator: ", ")
            return ControlAnswer.refuse(
                exchange, status: 400, "BadReason", "reason must be one of: \(known); count must be 0 to 1000000.")
        }
        failures.order(reason, count: body.count ?? 1)
        ControlAnswer.sendNothing(exchange)
    }
}
