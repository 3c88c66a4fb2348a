// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP

/// The responses to requests to send.
enum SendAnswer {
    /// The form of a response, which follows the API of the request.
    enum Form: Equatable {
        case own, ntfy
        case gotify(priority: Int64)
    }

    /// Reports what was sent.
    static func send(
        _ exchange: HTTPExchange, _ result: SendAPI.Result, _ message: SendMessage, _ topic: TopicName, _ form: Form
    ) {
        switch form {
        case .own: ControlAnswer.send(exchange, result)
        case .ntfy:
            let life = message.lifeSeconds ?? Limits.retentionSecondsMax
            ControlAnswer.send(
                exchange,
                SendAPI.NtfyMessage(
                    id: result.id, time: Timestamp.now.unixSeconds, expires: Timestamp.now.unixSeconds + life,
                    topic: topic.text, title: message.title, message: message.body ?? "", result: result))
        case .gotify(let priority):
            ControlAnswer.send(
                exchange,
                SendAPI.GotifyMessage(
                    message: message.body ?? "", title: message.title ?? "", priority: priority, result: result))
        }
    }

    /// Refuses a request in the form of its API, and counts the reason.
    static func refuse(
        _ exchange: HTTPExchange, _ form: Form, _ reason: SendRefusal, _ detail: String,
        retryAfterSeconds: Int64? = nil, countedBy metrics: APIMetrics
    ) {
        metrics.note(reason)
        refuse(exchange, form, reason.status, reason.rawValue, detail, retryAfterSeconds)
    }

    /// Refuses a request for a reason of the provider API, and counts the reason.
    static func refuse(
        _ exchange: HTTPExchange, _ form: Form, _ rejection: Rejection, countedBy metrics: APIMetrics
    ) {
        let reason = rejection.reason
        metrics.note(reason)
        refuse(exchange, form, reason.status, reason.rawValue, rejection.detail, rejection.retryAfterSeconds)
    }

    private static func refuse(
        _ exchange: HTTPExchange, _ form: Form, _ status: Int, _ error: String, _ detail: String,
        _ retryAfterSeconds: Int64?
    ) {
        guard form != .own else {
            return ControlAnswer.refuse(exchange, status: status, error, detail, retryAfterSeconds: retryAfterSeconds)
        }
        if let seconds = retryAfterSeconds ?? (status == 503 ? 10 : nil) {
            exchange.addField("retry-after", "\(seconds)".utf8.span)
        }
        if status == 401 { exchange.addField("www-authenticate", "Bearer") }
        ControlAnswer.send(
            exchange, status: status, SendAPI.ForeignFailure(status: status, error: error, detail: detail))
    }
}

extension SendRoute {
    /// The form of a refusal before the message is read.
    var form: SendAnswer.Form {
        switch self {
        case .message, .alertmanager, .grafana: .own
        case .ntfy, .ntfyJSON: .ntfy
        case .gotify: .gotify(priority: 0)
        }
    }
}
