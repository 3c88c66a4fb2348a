// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushStore
internal import PushTLS

/// The provider API: routes requests by path, authenticates senders, and rejects requests or passes them to the store.
///
/// The order of checks is fixed: method, path, repeated headers, credentials, then the checks for the kind of request.
/// For a notification, these are `apns-id`, expiration, priority, push type, collapse ID, topic, payload, device token.
final class ProviderEndpoint {
    let services: LoopServices
    let payloadValidator = PayloadValidator()
    /// The loop's quotas, kept here because a constant of this object is read without reference counting.
    let quotas: LoopQuotas
    private let metrics: APIMetrics
    private let random: RandomNumbers
    private let role: PortRole
    /// The body of the last rejection; most of the following ones have the same reason.
    private var latestBody: (reason: RejectionReason, bytes: [UInt8])?

    init(_ services: LoopServices, role: PortRole) {
        self.services = services
        (quotas, metrics) = (services.quotas, services.metrics)
        random = services.random
        self.role = role
    }

    /// Returns the size of the largest payload, so that the size of a body can be reported.
    func headArrived(_ exchange: HTTPExchange, on connection: ServerConnection) -> Int {
        Limits.voipPayloadByteCountMax
    }

    /// Answers a request with a rejection, or passes it to the store.
    func answer(_ exchange: HTTPExchange, on connection: ServerConnection) {
        let fields = exchange.head.fields
        let headers = ProviderHeaders(fields)
        let path = ProviderPath.parse(fields.bytes.span.extracting(exchange.head.path))
        let id = addID(to: exchange, headers, path, fields.bytes.span)
        let request = ProviderRequest(exchange, connection, provider(of: connection), headers, fields.bytes, id)
        quotas.begin()
        do throws(Rejection) {
            try perform(request, path)
            addRateFields(to: exchange)
        } catch {
            services.context.log.refused(error, on: connection)
            addRateFields(to: exchange)
            let rejection = countRefusal(error, request)
            ProviderAnswer.reject(
                exchange, rejection, countedBy: metrics, body: rejectionBody(rejection.reason))
            services.loop.markDirty(connection)
        }
    }

    /// Rejects a request without looking at it.
    func reject(_ exchange: HTTPExchange, _ rejection: Rejection, on connection: ServerConnection) {
        let fields = exchange.head.fields
        let path = ProviderPath.parse(fields.bytes.span.extracting(exchange.head.path))
        _ = addID(to: exchange, ProviderHeaders(fields), path, fields.bytes.span)
        services.context.log.refused(rejection, on: connection)
        ProviderAnswer.reject(exchange, rejection, countedBy: metrics, body: rejectionBody(rejection.reason))
        services.loop.markDirty(connection)
    }

    /// Counts a refusal of an unauthenticated sender; returns `TooManyRequests` instead if the budget is used up.
    private func countRefusal(_ rejection: Rejection, _ request: ProviderRequest) -> Rejection {
        let connection = request.connection
        let wait: Int64?
        if request.provider.takeFailedProof() {
            wait = services.countWrongCredential(on: connection)
            if connection.isCondemned { services.settings.rates.note(.providerSignatures) }
        } else {
            wait = connection.isStranger ? services.countStrangerRequest(on: connection) : nil
        }
        guard let wait else { return rejection }
        return Rejection(
            .tooManyRequests,
            "Too many requests from this network have no valid credential. Wait for the time in retry-after.",
            retryAfterSeconds: wait)
    }

    /// Answers a request on a connection that is closing because too many of its requests proved no credential.
    func refuseWhileClosing(_ exchange: HTTPExchange) {
        let fields = exchange.head.fields
        let path = ProviderPath.parse(fields.bytes.span.extracting(exchange.head.path))
        _ = addID(to: exchange, ProviderHeaders(fields), path, fields.bytes.span)
        ProviderAnswer.reject(
            exchange,
            Rejection(
                .tooManyRequests, "This connection closes after too many wrong provider tokens. Open another one.",
                retryAfterSeconds: 1), countedBy: metrics)
    }

    /// Answers a request that waited too long for its own end or for the store.
    func answerTimedOut(_ exchange: HTTPExchange) {
        guard !exchange.isComplete else {
            return ProviderAnswer.reject(exchange, Rejection(.serviceUnavailable), countedBy: metrics)
        }
        let bytes = exchange.head.fields.bytes
        let path = ProviderPath.parse(bytes.span.extracting(exchange.head.path))
        _ = addID(to: exchange, ProviderHeaders(exchange.head.fields), path, bytes.span)
        ProviderAnswer.reject(
            exchange, Rejection(.idleTimeout, "Send the complete request within 15 seconds."), countedBy: metrics)
    }

    /// Returns the provider API's state for a connection, made for its first request.
    private func provider(of connection: ServerConnection) -> ProviderConnection {
        let peer = connection.peer
        if let provider = peer.provider { return provider }
        let named = services.settings.configuration.environment(ofServerName: connection.encryption?.serverName)
        let provider = ProviderConnection(
            environment: role.environment ?? named, certificate: connection.encryption?.clientCertificate)
        peer.provider = provider
        return provider
    }

    /// Adds the ID of the request, which every response contains.
    private func addID(
        to exchange: HTTPExchange, _ headers: ProviderHeaders, _ path: ProviderPath, _ bytes: Span<UInt8>
    ) -> RequestID {
        let name: StaticString = path.hasRequestID ? "apns-request-id" : "apns-id"
        let id = RequestID(name, path.hasRequestID ? headers.requestID : headers.id, in: bytes, random)
        exchange.addField(name, id.text.span)
        return id
    }

    private func perform(_ request: ProviderRequest, _ path: ProviderPath) throws(Rejection) {
        try checkMethod(request.exchange.head.method, path)
        try checkPort(path)
        if let duplicate = request.headers.duplicate {
            throw Rejection(.duplicateHeaders, "The header \(duplicate) is repeated. Send it once.")
        }
        switch path {
        case .device(let range): try sendNotification(request, to: range)
        case .broadcast(let topic): try publish(request, topic: topic)
        case .channels(let topic): try manageChannels(request, topic: topic)
        case .allChannels(let topic): try listChannels(request, topic: topic)
        case .missingDeviceToken: throw Rejection(.missingDeviceToken)
        case .unknownBelowApps:
            throw Rejection(.badPath, "The paths below /1/apps/ are TOPIC/channels and TOPIC/all-channels.")
        case .unknown:
            let prefix = Array("/3/device/".utf8)
            let path = request.bytes.span.extracting(request.exchange.path)
            let isDevice =
                path.count > prefix.count && Bytes.areEqual(path.extracting(first: prefix.count), prefix.span)
            throw Rejection(
                .badPath, isDevice ? "Remove the slash in or after the device token in the path." : nil)
        }
    }

    /// Checks the method before the path, as Apple does, so that `GET /` is a wrong method.
    private func checkMethod(_ method: Method, _ path: ProviderPath) throws(Rejection) {
        let isAllowed =
            switch path {
            case .channels, .unknownBelowApps: method == .get || method == .post || method == .delete
            case .allChannels: method == .get
            case .device, .missingDeviceToken, .broadcast, .unknown: method == .post
            }
        guard !isAllowed else { return }
        throw Rejection(.methodNotAllowed, path.isForChannels ? "Use GET, POST or DELETE as the path requires." : nil)
    }

    /// Checks that the configuration allows the path on this port.
    private func checkPort(_ path: ProviderPath) throws(Rejection) {
        if role.isForChannels, !path.isForChannels {
            throw Rejection(.badPath, "This port is only for /1/apps/TOPIC/channels. Use the provider port.")
        }
        if !role.isForChannels, path.isForChannels, !services.settings.configuration.managesChannelsOnProviderPorts {
            throw Rejection(.badPath, "This server manages channels on a separate port.")
        }
    }

    /// Authenticates the sender of an incomplete request by its provider token; the first success allows all streams.
    ///
    /// A refusal is sent when the request is complete.
    ///
    /// - Parameters:
    ///   - exchange: The incomplete request.
    ///   - connection: The connection of the request.
    func recognize(_ exchange: HTTPExchange, on connection: ServerConnection) {
        let fields = exchange.head.fields
        let sender = try? provider(of: connection).authenticate(
            ProviderHeaders(fields).authorization, in: fields.bytes.span, authenticationContext(now: .now))
        if let sender { connection.authenticated(as: .provider(sender.id)) }
    }

    private func authenticationContext(now: Timestamp) -> ProviderConnection.AuthenticationContext {
        ProviderConnection.AuthenticationContext(
            directory: services.directory, now: now, monotonic: services.loop.events.now,
            updateCountMax: services.settings.configuration.providerTokenUpdateCountMax)
    }

    /// Authenticates the sender; the first success allows all streams.
    func authenticate(_ request: ProviderRequest) throws(Rejection) -> Sender {
        let sender = try request.provider.authenticate(
            request.headers.authorization, in: request.bytes.span, authenticationContext(now: request.now))
        if request.connection.isStranger { request.connection.authenticated(as: .provider(sender.id)) }
        guard request.id.isValid else {
            throw Rejection(
                .badMessageID, "Send \(request.id.name) as a UUID of 8-4-4-4-12 hexadecimal digits, or omit it.")
        }
        return sender
    }

    /// Counts a notification that is passed to the store, or rejects it if too many are unanswered.
    func checkRoom() throws(Rejection) {
        guard services.unansweredAcceptCount < services.unansweredAcceptCountMax else {
            throw Rejection(.serviceUnavailable)
        }
        services.unansweredAcceptCount += 1
    }

    /// Returns the body of a rejection, usually without an allocation.
    private func rejectionBody(_ reason: RejectionReason) -> [UInt8]? {
        // With status 410, the body contains the time.
        guard reason.status != 410 else { return nil }
        if let latestBody, latestBody.reason == reason { return latestBody.bytes }
        let bytes = ProviderAnswer.body(reason)
        latestBody = (reason, bytes)
        return bytes
    }
}
