// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushStore
internal import PushTLS

/// The device API under `/v1/`: enrolment, registrations, filter, stream, acknowledgements.
///
/// ```
/// head ──secret known──▶ body read ──▶ routed ──▶ store
///   ├──secret unknown──▶ 401, no body is kept
///   └──not looked up yet──▶ store names the device ──▶ routed, or 401
/// ```
/// A body is decoded only for enrolled devices. The store checks the secret again with each request.
final class DeviceEndpoint {
    let services: LoopServices
    private let streams: DeviceStreams

    init(_ services: LoopServices, _ streams: DeviceStreams) {
        self.services = services
        self.streams = streams
    }

    var secrets: DeviceSecretCache { services.context.deviceSecrets }

    // MARK: The device behind a request

    /// Looks up the device as soon as its secret has arrived; returns how many bytes of the body to keep.
    func headArrived(_ exchange: HTTPExchange, on connection: ServerConnection) -> Int {
        let path = exchange.fields.text(exchange.path)
        guard path != Self.enrolmentPath else { return Limits.smallBodyByteCountMax }
        // A stream's request has no body, and the store looks up its secret when it attaches.
        guard path != Self.streamPath, let credential = Self.credential(of: exchange) else { return 0 }
        let byteCountMax = Self.bodyByteCountMax(path)
        switch secrets.find(credential) {
        case .unknown: return 0
        case .device(let device):
            connection.authenticated(as: .device(device))
            exchange.context = DeviceCaller(device, credential)
            return byteCountMax
        case nil:
            // Answered at the end of the request, like every stranger.
            guard services.allowsProof(on: connection) else {
                exchange.context = RefusedAtEnd.one
                return 0
            }
            identify(credential, exchange, connection)
            if case .device = connection.principal { return byteCountMax }
            return min(byteCountMax, Limits.strangerBodyByteCountMax)
        }
    }

    private static let enrolmentPath = "/v1/devices"
    private static let streamPath = "/v1/stream"

    private static func bodyByteCountMax(_ path: String) -> Int {
        path == "/v1/acks" || path == "/v1/filter" ? Limits.controlBodyByteCountMax : Limits.smallBodyByteCountMax
    }

    /// Asks the store for the device of a secret; the request continues with the store's answer.
    private func identify(_ credential: DeviceCredential, _ exchange: HTTPExchange, _ connection: ServerConnection) {
        services.perform(.device(.identify, by: credential), for: exchange, on: connection) {
            [unowned self] result, exchange in
            switch result {
            case .success(.identified(let device)):
                secrets.insert(device, for: credential)
                identified(DeviceCaller(device, credential), exchange, connection)
            case .success: ControlAnswer.refuse(exchange, .unavailable("unexpected answer"))
            case .failure(let refusal): refuse(exchange, refusal, credential, connection)
            }
        }
    }

    private func identified(_ caller: DeviceCaller, _ exchange: HTTPExchange, _ connection: ServerConnection) {
        connection.authenticated(as: .device(caller.device))
        exchange.context = caller
        if !exchange.bodyOverflowed {
            exchange.bodyByteCountMax = Self.bodyByteCountMax(exchange.fields.text(exchange.path))
        }
        if exchange.isComplete { answer(exchange, on: connection) }
    }

    /// Refuses a request for the store's reason; a secret that the store does not know is cached as unknown.
    func refuse(
        _ exchange: HTTPExchange, _ refusal: StoreRefusal, _ credential: DeviceCredential,
        _ connection: ServerConnection
    ) {
        guard refusal == .unauthorized else { return ControlAnswer.refuse(exchange, refusal) }
        secrets.insertUnknown(credential)
        refuseStranger(exchange, connection)
    }

    /// Logs and refuses a request without a secret, or with one that the store has refused before.
    private func refuseUnknown(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        services.context.log.refused(.unauthorized, on: connection)
        refuseStranger(exchange, connection)
    }

    /// Refuses a request whose secret belongs to no device, and counts it for the peer's network.
    private func refuseStranger(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        if let seconds = services.countWrongCredential(on: connection) {
            return ControlAnswer.refuseStranger(exchange, retryAfterSeconds: seconds)
        }
        ControlAnswer.refuse(exchange, .unauthorized)
    }

    // MARK: Requests

    /// Answers a request, immediately or when the store has answered.
    func answer(_ exchange: HTTPExchange, on connection: ServerConnection) {
        defer { services.loop.markDirty(connection) }
        let path = exchange.fields.text(exchange.path)
        if path == Self.enrolmentPath {
            guard exchange.method == .post else { return Self.refuseMethod(exchange, allowed: "POST") }
            return enrol(exchange, connection)
        }
        if path == Self.streamPath { return openStream(exchange, connection) }
        // The device is not identified yet: `identified` calls this method again.
        if exchange.context is StoreContinuation { return }
        if exchange.context is RefusedAtEnd { return ControlAnswer.refuseStranger(exchange) }
        guard let caller = exchange.context as? DeviceCaller else { return refuseUnknown(exchange, connection) }
        exchange.context = nil
        if let seconds = services.settings.rates.takeRequest(of: caller.device, now: services.loop.events.now) {
            return ControlAnswer.refuseRate(
                exchange, "The device sends too many requests. Wait for the time in retry-after.",
                retryAfterSeconds: seconds)
        }
        guard !exchange.bodyOverflowed || exchange.bodyByteCountMax == Self.bodyByteCountMax(path) else {
            return ControlAnswer.refuse(
                exchange, status: 503, "Unavailable",
                "The body arrived before the device was identified. Send the request again.", retryAfterSeconds: 1)
        }
        route(exchange, connection, caller, path)
    }

    private func openStream(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        guard let credential = Self.credential(of: exchange) else { return refuseUnknown(exchange, connection) }
        switch secrets.find(credential) {
        case .unknown: return refuseUnknown(exchange, connection)
        case .device(let device):
            guard let seconds = services.settings.rates.takeStream(of: device, now: services.loop.events.now) else {
                break
            }
            return ControlAnswer.refuseRate(
                exchange, "The device opens streams too often. Wait for the time in retry-after.",
                retryAfterSeconds: seconds)
        case nil:
            guard services.allowsProof(on: connection) else { return ControlAnswer.refuseStranger(exchange) }
        }
        guard exchange.method == .get else { return Self.refuseMethod(exchange, allowed: "GET") }
        streams.open(exchange, on: connection, credential)
    }

    private func route(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ caller: DeviceCaller, _ path: String
    ) {
        switch (exchange.method, path) {
        case (.put, "/v1/filter"): setFilter(exchange, connection, caller)
        case (.put, "/v1/power"): setPower(exchange, connection, caller)
        case (.get, "/v1/policy"): sendPolicy(exchange, connection, caller)
        case (.get, "/v1/authorities"):
            ControlAnswer.send(exchange, services.context.authorities.announcement(now: .now))
        case (.put, "/v1/authorities"): confirmAuthorities(exchange, connection, caller)
        case (.post, "/v1/acks"): acknowledge(exchange, connection, caller)
        case (.delete, "/v1/devices/self"):
            ask(.remove, exchange, connection, caller) {
                [unowned self] _, exchange in
                secrets.insertUnknown(caller.credential)
                ControlAnswer.sendNothing(exchange)
            }
        case (_, "/v1/filter"): Self.refuseMethod(exchange, allowed: "PUT")
        case (_, "/v1/power"): Self.refuseMethod(exchange, allowed: "PUT")
        case (_, "/v1/policy"): Self.refuseMethod(exchange, allowed: "GET")
        case (_, "/v1/authorities"): Self.refuseMethod(exchange, allowed: "GET, PUT")
        case (_, "/v1/acks"): Self.refuseMethod(exchange, allowed: "POST")
        case (_, "/v1/devices/self"): Self.refuseMethod(exchange, allowed: "DELETE")
        case _ where path.hasPrefix("/v1/apps/"):
            answerApp(exchange, connection, caller, path: path.dropFirst("/v1/apps/".count))
        default: Self.refusePath(exchange)
        }
    }

    private func setFilter(_ exchange: HTTPExchange, _ connection: ServerConnection, _ caller: DeviceCaller) {
        guard let body = ControlAnswer.wholeBody(of: exchange) else { return }
        let filter: DeviceAPI.Filter
        do throws(DeviceBodyError) { filter = try DeviceAPI.Filter(reading: body.span) } catch {
            return ControlAnswer.refuse(exchange, error)
        }
        guard beginsAlone(.filter, exchange, connection, caller) else { return }
        perform(.setFilter(refusedTopics: filter.refusedTopics), exchange, connection, caller)
    }

    private func setPower(_ exchange: HTTPExchange, _ connection: ServerConnection, _ caller: DeviceCaller) {
        guard let body = ControlAnswer.body(DeviceAPI.Power.self, of: exchange) else { return }
        perform(.setPower(isSaving: body.saving), exchange, connection, caller)
    }

    private func sendPolicy(_ exchange: HTTPExchange, _ connection: ServerConnection, _ caller: DeviceCaller) {
        guard beginsAlone(.policy, exchange, connection, caller) else { return }
        ask(.policy, exchange, connection, caller) { answer, exchange in
            guard case .policy(let rules, let version) = answer else { return }
            ControlAnswer.send(exchange, DeviceAPI.Policy(version: version, rules: rules))
        }
    }

    private func confirmAuthorities(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ caller: DeviceCaller
    ) {
        guard let body = ControlAnswer.body(DeviceAPI.AuthorityConfirmation.self, of: exchange) else { return }
        guard (1...max(1, services.context.authorities.version)).contains(body.version) else {
            return ControlAnswer.refuse(
                exchange, status: 400, "BadRequest", "version must be one that the server announced.")
        }
        perform(.confirmAuthorities(version: body.version), exchange, connection, caller)
    }

    private func acknowledge(_ exchange: HTTPExchange, _ connection: ServerConnection, _ caller: DeviceCaller) {
        guard let body = ControlAnswer.wholeBody(of: exchange) else { return }
        let list: DeviceAPI.Acknowledgements
        do throws(DeviceBodyError) { list = try DeviceAPI.Acknowledgements(reading: body.span) } catch {
            return ControlAnswer.refuse(exchange, error)
        }
        let rates = services.settings.rates
        if let seconds = rates.takeAcknowledgements(list.acks.count, of: caller.device, now: services.loop.events.now) {
            return ControlAnswer.refuseRate(
                exchange, "The device sends too many acknowledgements. Wait for the time in retry-after.",
                retryAfterSeconds: seconds)
        }
        perform(.acknowledge(list.acks), exchange, connection, caller)
    }

    /// Starts a costly request of a device, or answers 429 while the store works on one of the same kind.
    func beginsAlone(
        _ kind: UnansweredRequests.Kind, _ exchange: HTTPExchange, _ connection: ServerConnection,
        _ caller: DeviceCaller
    ) -> Bool {
        beginsAlone(.request(kind, of: caller.device), exchange, connection)
    }

    /// Records a request, or answers 429 if an equal one is unanswered.
    func beginsAlone(
        _ work: UnansweredRequests.Work, _ exchange: HTTPExchange, _ connection: ServerConnection
    ) -> Bool {
        if services.unanswered.begin(work, at: connection.address(of: exchange)) { return true }
        services.settings.rates.note(.deviceUnanswered)
        ControlAnswer.refuse(
            exchange, status: 429, "TooMany",
            "An earlier request of this kind is not answered yet. Wait for the time in retry-after, then try again.",
            retryAfterSeconds: 1)
        return false
    }

    /// Sends a request to the store and answers with 204 when it succeeds.
    func perform(
        _ request: DeviceRequest, _ exchange: HTTPExchange, _ connection: ServerConnection, _ caller: DeviceCaller
    ) {
        ask(request, exchange, connection, caller) { _, exchange in ControlAnswer.sendNothing(exchange) }
    }

    /// Sends a request to the store on behalf of a device.
    ///
    /// - Parameters:
    ///   - request: The request to the store.
    ///   - exchange: The device's request.
    ///   - connection: The device's connection.
    ///   - caller: The device.
    ///   - refuse: Answers a refusal that has a special meaning for this request; returns false for others.
    ///   - succeed: Answers with the store's answer. An answer of another kind is refused with 503 here.
    func ask(
        _ request: DeviceRequest, _ exchange: HTTPExchange, _ connection: ServerConnection, _ caller: DeviceCaller,
        refuse: @escaping (StoreRefusal, HTTPExchange) -> Bool = { _, _ in false },
        _ succeed: @escaping (StoreAnswer, HTTPExchange) -> Void
    ) {
        services.perform(.device(request, by: caller.credential), for: exchange, on: connection) {
            [unowned self] result, exchange in
            switch result {
            case .success(let answer):
                succeed(answer, exchange)
                if !exchange.isAnswered { ControlAnswer.refuseUnexpected(exchange, services.context.log) }
            case .failure(let refusal):
                if !refuse(refusal, exchange) { self.refuse(exchange, refusal, caller.credential, connection) }
            }
        }
    }

    /// Returns the credential with the bearer secret, or nil unless there is exactly one.
    static func credential(of exchange: HTTPExchange) -> DeviceCredential? {
        let fields = exchange.fields
        guard let range = fields.value(of: "authorization"),
            fields.fields.count(where: { fields.name(of: $0, equals: "authorization") }) == 1
        else { return nil }
        let bytes = exchange.fields.bytes
        let value = bytes.span.extracting(range)
        guard let range = ProviderToken.compactToken(inAuthorization: value) else { return nil }
        let secret = value.extracting(range)
        return DeviceCredential(secret: secret, hash: SHA256.hash(secret))
    }

    static func refusePath(_ exchange: HTTPExchange) {
        ControlAnswer.refuse(
            exchange, status: 404, "NotFound",
            "Unknown path. See docs/reference/device-protocol.md in the source of Posthorn.")
    }

    static func refuseMethod(_ exchange: HTTPExchange, allowed: StaticString) {
        exchange.addField("allow", allowed)
        ControlAnswer.refuse(exchange, status: 405, "MethodNotAllowed", "Use \(allowed).")
    }
}

/// The context of a request that is refused at its end because its network sent too many wrong credentials.
final class RefusedAtEnd: Sendable {
    static let one = RefusedAtEnd()
}

/// The device that sent a request; the exchange's context between the lookup of the secret and the answer.
final class DeviceCaller {
    let device: DeviceID
    let credential: DeviceCredential

    init(_ device: DeviceID, _ credential: DeviceCredential) {
        self.device = device
        self.credential = credential
    }
}

extension ControlAnswer {
    /// Refuses an invalid body of a device's request.
    static func refuse(_ exchange: HTTPExchange, _ error: DeviceBodyError) {
        switch error {
        case .notJSON(let error): refuse(exchange, error)
        case .malformed(let detail): refuse(exchange, status: 400, "BadRequest", detail)
        case .tooMany(let countMax):
            refuse(exchange, status: 429, "TooMany", "Send at most \(countMax) in one request.")
        }
    }
}

extension TokenCipher {
    /// Returns a device token of 64 hexadecimal digits.
    func deviceToken(_ contents: DeviceTokenContents) -> String {
        let sealed = seal(contents.bytes)
        var digits: [UInt8] = []
        Hex.append(sealed.span, to: &digits)
        return String(decoding: digits, as: UTF8.self)
    }
}
