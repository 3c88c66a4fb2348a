// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushServing
internal import PushStore
internal import PushTLS

/// `/v1/apps/TOPIC/webhook`: the URL that receives the history of an app's notifications.
struct AdminWebhook: StoreCaller {
    let services: LoopServices
    /// The topic of the app that the webhook belongs to.
    let topic: TopicName

    private static let newWebhook = AdminBody(members: [
        AdminBody.Member(name: "url", kind: .text, isRequired: true), AdminBody.Member(name: "secret", kind: .text),
    ])

    func answer(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        switch exchange.method {
        case .put: set(exchange, connection)
        case .delete: perform(.control(.removeWebhook(topic: topic)), exchange, connection)
        default: AdminAnswer.refuseMethod(exchange, allowed: "PUT, DELETE")
        }
    }

    private func set(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        guard let body = Self.newWebhook.read(TraceAPI.NewWebhook.self, of: exchange) else { return }
        if let problem = WebhookURL.problem(in: body.url) {
            return ControlAnswer.refuse(exchange, status: 400, "BadURL", problem)
        }
        let bounds = Limits.webhookSecretByteCountMin...Limits.webhookSecretByteCountMax
        guard body.secret.map({ bounds.contains($0.utf8.count) }) ?? true else {
            return ControlAnswer.refuse(
                exchange, status: 400, "BadSecret",
                "Invalid secret: use \(bounds.lowerBound) to \(bounds.upperBound) bytes, or omit it to generate one.")
        }
        let made = body.secret == nil ? Self.makeSecret() : nil
        let secret = Array((body.secret ?? made ?? "").utf8)
        perform(.control(.setWebhook(topic: topic, url: body.url, secret: secret)), exchange, connection) {
            _, exchange in
            ControlAnswer.send(exchange, TraceAPI.Webhook(url: body.url, secret: made))
        }
    }

    private static func makeSecret() -> String {
        String(decoding: Base64.encodeURL(SecureRandom.bytes(count: 32).span), as: UTF8.self)
    }
}
