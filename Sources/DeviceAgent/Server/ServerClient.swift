// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import FoundationEssentials
internal import PushAPI
internal import PushCore
internal import PushCurl

/// The reason why a request to the server failed.
enum ServerFailure: Error, Sendable, Equatable {
    /// The server is unreachable; with libcurl's text.
    case unreachable(String)
    /// The server's certificate is not trusted, or TLS failed in another way; with libcurl's text.
    case notTrusted(String)
    /// A local file cannot be used, so no request was sent; with the file's purpose and libcurl's text.
    case badFile(String)
    /// The server refused: status, error word, text for the user, and the pause that it requested.
    case refused(status: Int, error: String, detail: String, retryAfter: Duration? = nil)
    /// The response does not follow the protocol.
    case unintelligible(String)

    /// The pause that the server requested.
    var retryAfter: Duration? {
        switch self {
        case .refused(_, _, _, let pause): pause
        case .unreachable, .notTrusted, .badFile, .unintelligible: nil
        }
    }

    /// A one-line description for the user.
    var message: String {
        switch self {
        case .unreachable(let text): "the server cannot be reached: \(text)"
        case .notTrusted(let text): "the server is not trusted: \(text)"
        case .badFile(let text): text
        case .refused(let status, "", let detail, _): "the server answered \(status): \(detail)"
        case .refused(let status, let error, let detail, _): "the server answered \(status) \(error): \(detail)"
        case .unintelligible(let text): "the server sent an invalid response: \(text)"
        }
    }
}

/// A client for the device API of one server, over shared connections.
struct ServerClient {
    private let curl: MultiClient
    private let url: String
    private let trust: ServerTrust
    private let secret: String?
    private let access: ServerAccess

    /// Creates a client; the secret is nil before the device is enrolled.
    init(_ curl: MultiClient, url: String, trust: ServerTrust, secret: String?, access: ServerAccess) {
        self.curl = curl
        self.url = url
        self.trust = trust
        self.secret = secret
        self.access = access
    }

    /// The host and port of the URL.
    var authority: String {
        let rest = url.utf8.starts(with: "https://".utf8) ? url.dropFirst("https://".count) : url[...]
        return String(rest.prefix { $0 != "/" })
    }

    /// Returns a request to a path of the device API.
    func request(_ method: String, _ path: String, body: [UInt8]? = nil) -> HTTPRequest {
        var request = HTTPRequest(method: method, url: url + path)
        trust.apply(to: &request)
        access.apply(to: &request)
        request.answerByteCountMax = Limits.controlBodyByteCountMax
        request.fields.append(("user-agent", "posthorn-agent/\(ProductVersion.text)"))
        if let secret { request.fields.append(("authorization", "Bearer \(secret)")) }
        if let body {
            request.fields.append(("content-type", "application/json"))
            request.body = body
        }
        return request
    }

    /// Fetches the server's certificates as PEM, trusted or not, without identifying the device to the server.
    func certificates() async throws(ServerFailure) -> [[UInt8]] {
        var request = HTTPRequest(method: "GET", url: url)
        var way = access
        (way.clientCertificateFile, way.clientKeyFile) = (nil, nil)
        way.apply(to: &request)
        request.looksAtCertificates = true
        return try await withCheckedContinuation { continuation in
            var connecting: TransferID?
            connecting = curl.connect(
                request,
                onConnect: { [curl] channel in
                    let certificates = channel.certificates
                    if let connecting { curl.cancel(connecting) }
                    continuation.resume(returning: Result<[[UInt8]], ServerFailure>.success(certificates))
                }, onFailure: { continuation.resume(returning: .failure(ServerFailure($0))) })
        }.get()
    }

    /// Sends `POST /v1/devices`, which enrols the device.
    func enrol(_ enrolment: DeviceAPI.Enrolment) async throws(ServerFailure) -> DeviceAPI.EnrolledDevice {
        try Self.decode(await send("POST", "/v1/devices", enrolment))
    }

    /// Sends `PUT /v1/apps/{topic}`; the topic satisfies `TopicName.isValid`, so it needs no escaping.
    func register(
        topic: TopicName, environment: Environment = .production
    ) async throws(ServerFailure) -> DeviceAPI.Registration {
        try Self.decode(await send("PUT", "/v1/apps/\(topic)", DeviceAPI.NewRegistration(environment: environment)))
    }

    /// Sends `DELETE /v1/apps/{topic}`.
    func unregister(topic: TopicName) async throws(ServerFailure) { try await send("DELETE", "/v1/apps/\(topic)") }

    /// Sends `PUT /v1/apps/{topic}/channels/{channel-id}`.
    func subscribe(topic: TopicName, channel: String) async throws(ServerFailure) {
        try await send("PUT", Self.path(of: channel, topic: topic))
    }

    /// Sends `DELETE /v1/apps/{topic}/channels/{channel-id}`.
    func unsubscribe(topic: TopicName, channel: String) async throws(ServerFailure) {
        try await send("DELETE", Self.path(of: channel, topic: topic))
    }

    /// Sends `GET /v1/apps/{topic}/channels`.
    func subscriptions(topic: TopicName) async throws(ServerFailure) -> DeviceAPI.Subscriptions {
        try Self.decode(await send("GET", "/v1/apps/\(topic)/channels"))
    }

    /// Sends `DELETE /v1/devices/self`.
    func removeSelf() async throws(ServerFailure) { try await send("DELETE", "/v1/devices/self") }

    /// Sends `GET /v1/policy`.
    func policy() async throws(ServerFailure) -> DeviceAPI.Policy { try Self.decode(await send("GET", "/v1/policy")) }

    /// Sends `GET /v1/authorities`.
    func authorities() async throws(ServerFailure) -> DeviceAPI.Authorities {
        try Self.decode(await send("GET", "/v1/authorities"))
    }

    /// Sends `PUT /v1/authorities`: the device trusts a version of the set now.
    func confirm(authorityVersion: Int64) async throws(ServerFailure) {
        try await send("PUT", "/v1/authorities", DeviceAPI.AuthorityConfirmation(version: authorityVersion))
    }

    /// Sends `PUT /v1/filter`.
    func setFilter(_ filter: DeviceAPI.Filter) async throws(ServerFailure) {
        try await send("PUT", "/v1/filter", filter)
    }

    /// Sends `PUT /v1/power`.
    func setPower(_ power: DeviceAPI.Power) async throws(ServerFailure) { try await send("PUT", "/v1/power", power) }

    /// Sends `POST /v1/acks`.
    func acknowledge(_ acknowledgements: [DeviceAPI.Acknowledgement]) async throws(ServerFailure) {
        try await send("POST", "/v1/acks", DeviceAPI.Acknowledgements(acks: acknowledgements))
    }

    @discardableResult
    private func send(
        _ method: String, _ path: String, _ body: some Encodable
    ) async throws(ServerFailure) -> HTTPResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let bytes = try? encoder.encode(body) else {
            preconditionFailure("a body of the device API cannot be encoded: \(type(of: body))")
        }
        return try await send(request(method, path, body: Array(bytes)))
    }

    @discardableResult
    private func send(_ method: String, _ path: String) async throws(ServerFailure) -> HTTPResponse {
        try await send(request(method, path))
    }

    /// Sends a request, and returns the response if it is a success.
    private func send(_ request: HTTPRequest) async throws(ServerFailure) -> HTTPResponse {
        let response: HTTPResponse
        do throws(CurlError) { response = try await curl.response(to: request) } catch { throw ServerFailure(error) }
        guard (200..<300).contains(response.status) else { throw ServerFailure(refusal: response) }
        return response
    }

    /// Returns the path of a channel, with the three base64 characters escaped that have a meaning in a URL.
    private static func path(of channel: String, topic: TopicName) -> String {
        let escaped = channel.unicodeScalars.reduce(into: "") { text, character in
            switch character {
            case "/": text += "%2F"
            case "+": text += "%2B"
            case "=": text += "%3D"
            default: text.unicodeScalars.append(character)
            }
        }
        return "/v1/apps/\(topic)/channels/\(escaped)"
    }

    private static func decode<Body: Decodable>(_ response: HTTPResponse) throws(ServerFailure) -> Body {
        do {
            try JSONValidator.validateObject(response.body.span)
            return try JSONDecoder().decode(Body.self, from: Data(response.body))
        } catch {
            throw .unintelligible("\(error)")
        }
    }
}

extension Result where Failure == ServerFailure {
    /// Runs a request and keeps its outcome.
    init(of request: () async throws(ServerFailure) -> Success) async {
        do throws(ServerFailure) { self = .success(try await request()) } catch { self = .failure(error) }
    }
}

extension ServerFailure {
    /// Maps libcurl's error.
    init(_ error: CurlError) {
        switch error.kind {
        case .unknownAuthority, .tls: self = .notTrusted(error.messageWithAdvice)
        case .authorityFile, .certificateFile: self = .badFile(error.messageWithAdvice)
        case .resolve, .resolveProxy, .connect, .proxyAuthentication, .proxyRefusal, .clientCertificateRequired,
            .clientCertificateRefused, .handshakeRefused, .timeout, .interrupted, .other:
            self = .unreachable(error.messageWithAdvice)
        }
    }

    /// Parses the body of a refusal, which may come from a proxy, and shortens overlong texts.
    init(refusal response: HTTPResponse) {
        let body = try? JSONValue(parsing: response.body.span)
        let word = body?["error"]?.string.map { DisplayText.terminal($0, scalarCountMax: 64) }
        let detail = body?["detail"]?.string.map { DisplayText.terminal($0, scalarCountMax: 300) }
        self = .refused(
            status: response.status, error: word ?? "", detail: detail ?? Self.detail(ofForeign: response),
            retryAfter: RetryPause.parse(response.value(of: "retry-after"), now: .now))
    }

    /// Returns the explanation of a response that is not the server's own.
    ///
    /// nginx requests a client certificate in the TLS handshake, but reports a missing one in HTTP.
    ///
    /// - Parameter response: The response, for example from a proxy in front of the server.
    /// - Returns: The explanation for the user.
    private static func detail(ofForeign response: HTTPResponse) -> String {
        let text = String(decoding: response.body, as: UTF8.self)
        guard response.status == 400, text.contains("SSL certificate") else {
            return "the response is not from posthornd; check the server's address and any proxy"
        }
        return text.contains("No required SSL certificate")
            ? "the server requires a client certificate: set client_cert and client_key in agent.ini"
            : "the server does not accept this device's certificate: see client_cert in agent.ini"
    }
}
