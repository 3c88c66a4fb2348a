// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP

/// The form of a request to send, which depends on its path.
enum SendRoute: Equatable {
    /// `/v1/send/APP`: this server's own form.
    case message(app: String)
    /// `/v1/send/APP/alertmanager`: a webhook of Alertmanager.
    case alertmanager(app: String)
    /// `/v1/send/APP/grafana`: a webhook of Grafana.
    case grafana(app: String)
    /// `/APP`: ntfy's form with the message as the body.
    case ntfy(topic: String)
    /// `/`: ntfy's JSON form, which names the topic.
    case ntfyJSON
    /// `/message`: Gotify's form; the token names the app.
    case gotify

    /// Returns the form of a request with a path; nil for another API or an unknown path.
    ///
    /// - Parameters:
    ///   - path: The path without the query.
    ///   - method: The request's method.
    init?(path: String, method: Method) {
        let words = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        switch (words.count, words[0]) {
        case (1, ""): self = .ntfyJSON
        case (1, "message"): self = .gotify
        case (1, _): self = .ntfy(topic: words[0])
        // ntfy's form for programs that can only send GET.
        case (2, _) where method == .get && ["publish", "send", "trigger"].contains(words[1]):
            self = .ntfy(topic: words[0])
        case (3, "v1") where words[1] == "send": self = .message(app: words[2])
        case (4, "v1") where words[1] == "send" && words[3] == "alertmanager": self = .alertmanager(app: words[2])
        case (4, "v1") where words[1] == "send" && words[3] == "grafana": self = .grafana(app: words[2])
        default: return nil
        }
    }

    /// Whether the request may have a method.
    func allows(_ method: Method) -> Bool {
        switch self {
        case .message, .alertmanager, .grafana, .gotify: method == .post
        case .ntfy: method == .post || method == .put || method == .get
        case .ntfyJSON: method == .post || method == .put
        }
    }
}

/// A request to send, before its token is checked.
struct SendRequest {
    let route: SendRoute
    /// The parameters of the query; empty if there are too many.
    let query: FormFields
    private let hasTooManyParameters: Bool
    /// The header fields.
    let headers: FormFields

    /// Reads the path, the query and the header fields; returns nil for another API or an unknown path.
    init?(_ exchange: HTTPExchange) {
        let fields = exchange.fields
        let target = fields.bytes[exchange.path]
        let parts = target.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = parts.first.map({ String(decoding: $0, as: UTF8.self) }), path.hasPrefix("/"),
            let route = SendRoute(path: path, method: exchange.method)
        else { return nil }
        self.route = route
        let query = parts.count > 1 ? FormFields(urlEncoded: parts[1]) : FormFields()
        self.query = query ?? FormFields()
        hasTooManyParameters = query == nil
        headers = FormFields(
            fields.fields.map { .init(fields.text($0.name), fields.text($0.value)) })
    }

    /// The token: in the field Authorization (as Bearer, or as the password of Basic), in `x-gotify-key`, or in the
    /// query (`token`; or `auth`, which is ntfy's copy of the field Authorization in Base64).
    var token: String? {
        if let value = headers["authorization"] { return Self.token(inAuthorization: value) }
        if let key = headers["x-gotify-key"] ?? query["token"] { return key }
        guard let copy = query["auth"], let bytes = Base64.decode(Array(copy.utf8).span) else { return nil }
        return Self.token(inAuthorization: String(decoding: bytes, as: UTF8.self))
    }

    private static func token(inAuthorization value: String) -> String? {
        let words = value.split(separator: " ", maxSplits: 1)
        guard words.count == 2 else { return nil }
        switch words[0].lowercased() {
        case "bearer": return String(words[1])
        case "basic":
            guard let bytes = Base64.decode(Array(words[1].utf8).span) else { return nil }
            let parts = String(decoding: bytes, as: UTF8.self).split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            // Some programs send a token as the user name, without a password.
            guard parts.count == 2 else { return nil }
            return String(parts[1].isEmpty ? parts[0] : parts[1])
        default: return nil
        }
    }

    /// A message, with the topic that its request names, and the form of the answer.
    struct Reading {
        /// The topic; nil if only the token names the app.
        var topic: String?
        var message: SendMessage
        var form: SendAnswer.Form
    }

    /// Reads the message.
    ///
    /// - Parameter body: The request's body.
    /// - Returns: The message.
    /// - Throws: The problem with the request.
    func read(_ body: [UInt8]) throws(SendDefect) -> Reading {
        guard !hasTooManyParameters else {
            throw SendDefect("Send at most \(Limits.sendParameterCountMax) parameters.")
        }
        switch route {
        case .message(let app): return Reading(topic: app, message: try ownMessage(body), form: .own)
        case .alertmanager(let app): return alert(try SendMessage(alertmanager: body), of: app)
        case .grafana(let app): return alert(try SendMessage(grafana: body), of: app)
        case .ntfy(let topic):
            let parameters = FormFields(headers.fields + query.fields)
            return Reading(topic: topic, message: try SendMessage(ntfy: body, parameters), form: .ntfy)
        case .ntfyJSON:
            let (topic, message) = try SendMessage.ntfy(json: body)
            return Reading(topic: topic, message: message, form: .ntfy)
        case .gotify:
            let (message, priority) = try gotifyMessage(body)
            return Reading(topic: nil, message: message, form: .gotify(priority: priority))
        }
    }

    /// Shortens the text of an alert, because a monitoring system cannot.
    private func alert(_ message: SendMessage, of app: String) -> Reading {
        var message = message
        if !message.shorten(toPayload: PushType.alert.payloadByteCountMax) { message.body = nil }
        return Reading(topic: app, message: message, form: .own)
    }

    private var contentType: String { headers["content-type"] ?? "" }

    private var isJSON: Bool { contentType.lowercased().hasPrefix("application/json") }

    /// Reads JSON, or a text whose other members are in the query.
    private func ownMessage(_ body: [UInt8]) throws(SendDefect) -> SendMessage {
        if isJSON { return try SendMessage(json: body) }
        guard let text = String(validating: body, as: UTF8.self) else {
            throw SendDefect("The body is not text in UTF-8. Send JSON with content-type application/json, or text.")
        }
        return try SendMessage(text: text, query)
    }

    private func gotifyMessage(_ body: [UInt8]) throws(SendDefect) -> (message: SendMessage, priority: Int64) {
        if isJSON { return try SendMessage.gotify(json: body) }
        if let boundary = MultipartForm.boundary(of: contentType) {
            return try SendMessage.gotify(try MultipartForm.fields(of: body, boundary: boundary))
        }
        guard let form = FormFields(urlEncoded: body[...]) else {
            throw SendDefect("Send at most \(Limits.sendParameterCountMax) parameters.")
        }
        return try SendMessage.gotify(FormFields(form.fields + query.fields))
    }
}
