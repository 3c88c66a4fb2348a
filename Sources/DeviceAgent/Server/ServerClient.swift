// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import FoundationEssentials
internal import PushAPI
internal import PushCore
internal import PushCurl
internal import PushNet

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
    private let caFile: String?
    private let secret: String?
    private let access: ServerAccess

    /// Creates a client; the secret is nil before the device is enrolled.
    init(
        _ curl: MultiClient, url: String, caFile: String, secret: String?, access: ServerAccess = ServerAccess()
    ) {
        self.curl = curl
        self.url = url
        self.caFile = caFile.isEmpty ? nil : caFile
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
        request.caFile = caFile
        access.apply(to: &request)
        request.answerByteCountMax = Limits.controlBodyByteCountMax
        if let secret { request.fields.append(("authorization", "Bearer \(secret)")) }
        if let body {
            request.fields.append(("content-type", "application/json"))
            request.body = body
        }
        return request
    }

    /// Fetches the server's certificates as PEM, trusted or not, without identifying the device to the server.
    func certificates(completion: @escaping (Result<[[UInt8]], ServerFailure>) -> Void) {
        var request = HTTPRequest(method: "GET", url: url)
        var way = access
        (way.clientCertificateFile, way.clientKeyFile) = (nil, nil)
        way.apply(to: &request)
        request.looksAtCertificates = true
        var connecting: TransferID?
        connecting = curl.connect(
            request,
            onConnect: { [curl] channel in
                let certificates = channel.certificates
                if let connecting { curl.cancel(connecting) }
                completion(.success(certificates))
            }, onFailure: { completion(.failure(ServerFailure($0))) })
    }

    /// Sends `POST /v1/devices`, which enrols the device.
    func enrol(
        _ enrolment: DeviceAPI.Enrolment,
        completion: @escaping (Result<DeviceAPI.EnrolledDevice, ServerFailure>) -> Void
    ) {
        send("POST", "/v1/devices", enrolment) { completion($0.flatMap(Self.decode)) }
    }

    /// Sends `PUT /v1/apps/{topic}`; the topic satisfies `HeaderValues.isTopic`, so it needs no escaping.
    func register(
        topic: String, environment: Environment = .production,
        completion: @escaping (Result<DeviceAPI.Registration, ServerFailure>) -> Void
    ) {
        let body = DeviceAPI.NewRegistration(environment: environment)
        send("PUT", "/v1/apps/\(topic)", body) { completion($0.flatMap(Self.decode)) }
    }

    /// Sends `DELETE /v1/apps/{topic}`.
    func unregister(topic: String, completion: @escaping (Result<Void, ServerFailure>) -> Void) {
        send("DELETE", "/v1/apps/\(topic)") { completion($0.map { _ in }) }
    }

    /// Sends `PUT /v1/apps/{topic}/channels/{channel-id}`.
    func subscribe(
        topic: String, channel: String, completion: @escaping (Result<Void, ServerFailure>) -> Void
    ) {
        send("PUT", Self.path(of: channel, topic: topic)) { completion($0.map { _ in }) }
    }

    /// Sends `DELETE /v1/apps/{topic}/channels/{channel-id}`.
    func unsubscribe(
        topic: String, channel: String, completion: @escaping (Result<Void, ServerFailure>) -> Void
    ) {
        send("DELETE", Self.path(of: channel, topic: topic)) { completion($0.map { _ in }) }
    }

    /// Sends `GET /v1/apps/{topic}/channels`.
    func subscriptions(
        topic: String, completion: @escaping (Result<DeviceAPI.Subscriptions, ServerFailure>) -> Void
    ) {
        send("GET", "/v1/apps/\(topic)/channels") { completion($0.flatMap(Self.decode)) }
    }

    /// Sends `DELETE /v1/devices/self`.
    func removeSelf(completion: @escaping (Result<Void, ServerFailure>) -> Void) {
        send("DELETE", "/v1/devices/self") { completion($0.map { _ in }) }
    }

    /// Sends `GET /v1/policy`.
    func policy(completion: @escaping (Result<DeviceAPI.Policy, ServerFailure>) -> Void) {
        send("GET", "/v1/policy") { completion($0.flatMap(Self.decode)) }
    }

    /// Sends `PUT /v1/filter`.
    func setFilter(_ filter: DeviceAPI.Filter, completion: @escaping (Result<Void, ServerFailure>) -> Void) {
        send("PUT", "/v1/filter", filter) { completion($0.map { _ in }) }
    }

    /// Sends `PUT /v1/power`.
    func setPower(_ power: DeviceAPI.Power, completion: @escaping (Result<Void, ServerFailure>) -> Void) {
        send("PUT", "/v1/power", power) { completion($0.map { _ in }) }
    }

    /// Sends `POST /v1/acks`.
    func acknowledge(
        _ acknowledgements: [DeviceAPI.Acknowledgement], completion: @escaping (Result<Void, ServerFailure>) -> Void
    ) {
        send("POST", "/v1/acks", DeviceAPI.Acknowledgements(acks: acknowledgements)) { completion($0.map { _ in }) }
    }

    private func send(
        _ method: String, _ path: String, _ body: some Encodable,
        completion: @escaping (Result<HTTPResponse, ServerFailure>) -> Void
    ) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let bytes = try? encoder.encode(body) else {
            preconditionFailure("a body of the device API cannot be encoded: \(type(of: body))")
        }
        send(request(method, path, body: Array(bytes)), completion: completion)
    }

    private func send(
        _ method: String, _ path: String, completion: @escaping (Result<HTTPResponse, ServerFailure>) -> Void
    ) {
        send(request(method, path), completion: completion)
    }

    private func send(_ request: HTTPRequest, completion: @escaping (Result<HTTPResponse, ServerFailure>) -> Void) {
        curl.start(request) { result in
            switch result {
            case .failure(let error):
                completion(.failure(ServerFailure(error)))
            case .success(let response) where (200..<300).contains(response.status): completion(.success(response))
            case .success(let response): completion(.failure(.init(refusal: response)))
            }
        }
    }

    /// Returns the path of a channel, with the three base64 characters escaped that have a meaning in a URL.
    private static func path(of channel: String, topic: String) -> String {
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

    private static func decode<Body: Decodable>(_ response: HTTPResponse) -> Result<Body, ServerFailure> {
        do {
            try JSONValidator.validateObject(response.body.span)
            return .success(try JSONDecoder().decode(Body.self, from: Data(response.body)))
        } catch {
            return .failure(.unintelligible("\(error)"))
        }
    }
}

extension ServerFailure {
    /// Maps libcurl's error.
    init(_ error: CurlError) {
        switch error.kind {
        case .tls: self = .notTrusted(error.trouble)
        case .authorityFile, .certificateFile: self = .badFile(error.trouble)
        case .resolve, .resolveProxy, .connect, .proxyAuthentication, .proxyRefusal, .clientCertificateRequired,
            .clientCertificateRefused, .handshakeRefused, .timeout, .interrupted, .other:
            self = .unreachable(error.trouble)
        }
    }

    /// Parses the body of a refusal, which may come from a proxy, and shortens overlong texts.
    init(refusal response: HTTPResponse) {
        let body = try? JSONValue(parsing: response.body.span)
        let word = body?["error"]?.string.map { DisplayText.terminal($0, scalarCountMax: 64) }
        let detail = body?["detail"]?.string.map { DisplayText.terminal($0, scalarCountMax: 300) }
        self = .refused(
            status: response.status, error: word ?? "", detail: detail ?? Self.detail(ofForeign: response),
            retryAfter: RetryPause.parse(
                response.value(of: "retry-after"), nowUnixSeconds: WallClock.unixMilliseconds() / 1000))
    }

    /// Returns the explanation of a response that is not the server's own.
    ///
    /// nginx requests a client certificate in the TLS handshake, but reports a missing one in HTTP.
    ///
    /// - Parameter response: The response, for example from a proxy in front of the server.
    /// - Returns: The explanation for the user.
    private static func detail(ofForeign response: HTTPResponse) -> String {
        let text = String(decoding: response.body, as: UTF8.self)
        guard response.status == 400, text.contains("SSL certificate") else { return "it gave no reason" }
        return text.contains("No required SSL certificate")
            ? "the server wants a certificate: set client_cert and client_key in agent.ini"
            : "the server does not accept this device's certificate: see client_cert in agent.ini"
    }
}
