// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushServing
internal import PushStore

/// `/v1/send/APP`: sends a message to an app for an administrator, without limits.
struct AdminSend: AdminResource {
    let services: LoopServices
    let publisher: SendPublisher

    func answer(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String],
        _ parameters: [AdminTarget.Parameter]
    ) {
        guard rest.count == 1 else { return AdminAnswer.refusePath(exchange) }
        guard exchange.method == .post else { return AdminAnswer.refuseMethod(exchange, allowed: "POST") }
        guard let body = ControlAnswer.wholeBody(of: exchange) else { return }
        guard let app = services.directory.topic(named: Array(rest[0].utf8).span) else {
            return ControlAnswer.refuse(exchange, .unknownTopic)
        }
        do throws(SendDefect) {
            let message = try SendMessage(json: body)
            let sender = SendPublisher.Sender(quotaID: "", tokenHash: nil)
            publisher.publish(message, to: app, from: sender, .own, exchange, connection)
        } catch {
            SendAnswer.refuse(exchange, .own, .badRequest, error.text, countedBy: services.metrics)
        }
    }
}
