// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushStore
internal import PushTLS

/// The send API: scripts send texts to the devices of an app with a send token, also in the forms of ntfy and Gotify.
///
/// ```
/// head ──token known──▶ body read ──▶ SendMessage ──▶ SendPublisher ──▶ a notification for each device
///   └──token unknown──▶ 401, no body is kept
/// ```
final class SendEndpoint {
    private let services: LoopServices
    private let publisher: SendPublisher
    private var metrics: APIMetrics { services.metrics }

    init(_ services: LoopServices) {
        self.services = services
        publisher = SendPublisher(services)
    }

    /// Returns whether a request is for this API.
    ///
    /// Requests in the forms of ntfy and Gotify need a credential, so that all others on these paths receive the
    /// provider API's answers.
    static func takes(_ exchange: HTTPExchange) -> Bool {
        guard let request = SendRequest(exchange) else { return false }
        return request.route.form == .own || request.token.map { !$0.hasPrefix("ey") } ?? false
    }

    /// Authenticates the request by its token; returns how many bytes of the body to keep.
    func headArrived(_ exchange: HTTPExchange, on connection: ServerConnection) -> Int {
        guard let request = SendRequest(exchange), let token = token(of: request) else { return 0 }
        connection.authenticated(as: .provider(Self.principal(token)))
        return Limits.sendBodyByteCountMax
    }

    /// Answers a complete request, immediately or when the store has answered.
    func answer(_ exchange: HTTPExchange, on connection: ServerConnection) {
        defer { services.loop.markDirty(connection) }
        guard let request = SendRequest(exchange) else {
            return refuse(exchange, .own, .notFound, "Use the path /v1/send/APP.")
        }
        let form = request.route.form
        guard request.route.allows(exchange.method) else {
            exchange.addField("allow", "POST")
            return SendAnswer.refuse(exchange, form, Rejection(.methodNotAllowed, "Use POST."), countedBy: metrics)
        }
        guard let token = token(of: request), let app = services.directory.topic(token.topic) else {
            return refuseStranger(exchange, connection, form)
        }
        if let seconds = services.settings.rates.takeSend(of: token.hash, now: services.loop.events.now) {
            return refuse(
                exchange, form, .tooMany,
                "The token sends too many requests. Wait for the time in retry-after.", retryAfterSeconds: seconds)
        }
        guard !exchange.bodyOverflowed else {
            return refuse(exchange, form, .tooLarge, "Send at most \(Limits.sendBodyByteCountMax) bytes.")
        }
        do throws(SendDefect) {
            let reading = try request.read(exchange.body)
            if let topic = reading.topic, !Self.names(topic, app.topic.name) {
                return refuse(
                    exchange, form, .wrongApp, "This token is for \(app.topic.name), not for \(topic).")
            }
            let sender = SendPublisher.Sender(quotaID: Self.principal(token), tokenHash: token.hash)
            publisher.publish(reading.message, to: app, from: sender, reading.form, exchange, connection)
        } catch {
            refuse(exchange, form, .badRequest, error.text)
        }
    }

    /// Answers a request on a connection that is closing because too many of its requests had no valid token.
    func refuseWhileClosing(_ exchange: HTTPExchange) {
        metrics.note(.tooMany)
        ControlAnswer.refuseStranger(exchange)
    }

    /// Answers a request that did not arrive completely in time, or that waited too long for the store.
    func answerTimedOut(_ exchange: HTTPExchange) {
        metrics.note(exchange.isComplete ? .unavailable : .requestTimeout)
        ControlAnswer.answerTimedOut(exchange)
    }

    private func refuse(
        _ exchange: HTTPExchange, _ form: SendAnswer.Form, _ reason: SendRefusal, _ detail: String,
        retryAfterSeconds: Int64? = nil
    ) {
        SendAnswer.refuse(
            exchange, form, reason, detail, retryAfterSeconds: retryAfterSeconds, countedBy: metrics)
    }

    /// Returns whether a topic in a request names an app.
    ///
    /// Programs for ntfy accept no dots in topics, so hyphens or underscores may take their places.
    private static func names(_ topic: String, _ name: TopicName) -> Bool {
        topic == name.text || topic == name.text.replacing(".", with: "-")
            || topic == name.text.replacing(".", with: "_")
    }

    /// Refuses a request without a valid token, and counts it for the peer's network.
    private func refuseStranger(_ exchange: HTTPExchange, _ connection: ServerConnection, _ form: SendAnswer.Form) {
        services.context.log.refusedSender(on: connection)
        if let seconds = services.countWrongCredential(on: connection) {
            return refuse(
                exchange, form, .tooMany,
                "Too many requests from this network have no valid credential. Wait for the time in retry-after.",
                retryAfterSeconds: seconds)
        }
        refuse(
            exchange, form, .unauthorized,
            "The token is missing, unknown, expired or revoked. Send the header 'Authorization: Bearer TOKEN' with a "
                + "token from 'posthorn token create'.")
    }

    /// Returns the valid token of a request.
    private func token(of request: SendRequest) -> SendToken? {
        guard let text = request.token else { return nil }
        let hash = SHA256.hash(Array(text.utf8).span)
        guard let token = services.directory.sendToken(hash), token.isValid(at: .now) else { return nil }
        return token
    }

    /// Returns the name of a token in log lines and quotas.
    private static func principal(_ token: SendToken) -> String { "token-\(Hex.string(token.id))" }
}
