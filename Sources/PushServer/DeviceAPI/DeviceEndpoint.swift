// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushStore
internal import PushTLS

/// The device API under `/v1/`: enrolment, registrations, filter, stream, acknowledgements.
final class DeviceEndpoint {
    unowned let loop: ServerLoop

    init(loop: ServerLoop) { self.loop = loop }

    /// Answers now, or when the store has.
    func answer(_ exchange: HTTPExchange, on connection: ServerConnection) {
        defer { loop.markDirty(connection) }
        let path = exchange.fields.text(exchange.path)
        if path == "/v1/devices" {
            guard exchange.method == .post else { return Self.refuseMethod(exchange, allowed: "POST") }
            return enrol(exchange, connection)
        }
        guard let secretHash = Self.secretHash(of: exchange) else {
            return ControlAnswer.refuse(exchange, .unauthorized)
        }
        switch (exchange.method, path) {
        case (.get, "/v1/stream"): loop.streams.open(exchange, on: connection, secretHash: secretHash)
        case (.put, "/v1/filter"): setFilter(exchange, connection, secretHash)
        case (.put, "/v1/power"): setPower(exchange, connection, secretHash)
        case (.get, "/v1/policy"): sendPolicy(exchange, connection, secretHash)
        case (.post, "/v1/acks"): acknowledge(exchange, connection, secretHash)
        case (.delete, "/v1/devices/self"):
            perform(.removeSelf(secretHash: secretHash), exchange, connection)
        case (_, "/v1/stream"): Self.refuseMethod(exchange, allowed: "GET")
        case (_, "/v1/filter"): Self.refuseMethod(exchange, allowed: "PUT")
        case (_, "/v1/power"): Self.refuseMethod(exchange, allowed: "PUT")
        case (_, "/v1/policy"): Self.refuseMethod(exchange, allowed: "GET")
        case (_, "/v1/acks"): Self.refuseMethod(exchange, allowed: "POST")
        case (_, "/v1/devices/self"): Self.refuseMethod(exchange, allowed: "DELETE")
        case _ where path.hasPrefix("/v1/apps/"):
            answerApp(exchange, connection, secretHash, path: path.dropFirst("/v1/apps/".count))
        default: Self.refusePath(exchange)
        }
    }

    private func enrol(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        guard let body = ControlAnswer.body(DeviceAPI.Enrolment.self, of: exchange) else { return }
        let isNamed = (1...Limits.displayNameByteCountMax).contains(body.name.utf8.count)
        guard isNamed, (1...Limits.displayNameByteCountMax).contains(body.platform.utf8.count) else {
            return ControlAnswer.refuse(
                exchange, status: 400, "BadRequest",
                "Name and platform are 1 to \(Limits.displayNameByteCountMax) bytes long.")
        }
        guard body.code != nil || loop.context.configuration.hasOpenEnrolment else {
            return ControlAnswer.refuse(exchange, .badEnrolmentCode)
        }
        let secret = DeviceSecret()
        let device = DeviceID(rawValue: SecureRandom.uint64() >> 1)
        let request = StoreRequest.NewDevice(
            codeHash: body.code.map(EnrolmentCode.hash), device: device, secretHash: secret.hash, name: body.name,
            platform: body.platform)
        loop.perform(.enrol(request), for: exchange, on: connection) { result, exchange in
            switch result {
            case .success:
                ControlAnswer.send(
                    exchange, status: 201,
                    DeviceAPI.EnrolledDevice(deviceID: device.text, deviceSecret: secret.text))
            case .failure(let refusal): ControlAnswer.refuse(exchange, refusal)
            }
        }
    }

    private func setFilter(_ exchange: HTTPExchange, _ connection: ServerConnection, _ secretHash: [UInt8]) {
        guard let body = ControlAnswer.body(DeviceAPI.Filter.self, of: exchange) else { return }
        guard body.refusedTopics.count <= Limits.filterTopicCountMax else {
            return ControlAnswer.refuse(exchange, .tooMany)
        }
        perform(.setFilter(secretHash: secretHash, refusedTopics: body.refusedTopics), exchange, connection)
    }

    private func setPower(_ exchange: HTTPExchange, _ connection: ServerConnection, _ secretHash: [UInt8]) {
        guard let body = ControlAnswer.body(DeviceAPI.Power.self, of: exchange) else { return }
        perform(.setPower(secretHash: secretHash, isSaving: body.saving), exchange, connection)
    }

    private func sendPolicy(_ exchange: HTTPExchange, _ connection: ServerConnection, _ secretHash: [UInt8]) {
        loop.perform(.policy(.ofDevice(secretHash: secretHash)), for: exchange, on: connection) { result, exchange in
            switch result {
            case .success(.policy(let rules, let version)):
                ControlAnswer.send(exchange, DeviceAPI.Policy(version: version, rules: rules))
            case .success: preconditionFailure("the store answered a request with another request's answer")
            case .failure(let refusal): ControlAnswer.refuse(exchange, refusal)
            }
        }
    }

    private func acknowledge(_ exchange: HTTPExchange, _ connection: ServerConnection, _ secretHash: [UInt8]) {
        guard let body = ControlAnswer.body(DeviceAPI.Acknowledgements.self, of: exchange) else { return }
        guard body.acks.count <= Limits.acknowledgementBatchCountMax else {
            return ControlAnswer.refuse(exchange, .tooMany)
        }
        perform(.acknowledge(secretHash: secretHash, body.acks), exchange, connection)
    }

    /// For requests that are answered with 204.
    func perform(_ request: StoreRequest, _ exchange: HTTPExchange, _ connection: ServerConnection) {
        loop.perform(request, for: exchange, on: connection) { result, exchange in
            switch result {
            case .success: ControlAnswer.sendNothing(exchange)
            case .failure(let refusal): ControlAnswer.refuse(exchange, refusal)
            }
        }
    }

    /// SHA-256 of the bearer secret; nil when there is none, or more than one.
    private static func secretHash(of exchange: HTTPExchange) -> [UInt8]? {
        let fields = exchange.fields
        guard let range = fields.value(of: "authorization"),
            fields.fields.count(where: { fields.name(of: $0, equals: "authorization") }) == 1
        else { return nil }
        let bytes = exchange.fields.bytes
        let value = bytes.span.extracting(range)
        guard let secret = ProviderToken.compactToken(inAuthorization: value) else { return nil }
        return SHA256.hash(value.extracting(secret))
    }

    static func refusePath(_ exchange: HTTPExchange) {
        ControlAnswer.refuse(exchange, status: 404, "NotFound", "There is nothing under this path.")
    }

    static func refuseMethod(_ exchange: HTTPExchange, allowed: StaticString) {
        exchange.addField("allow", allowed)
        ControlAnswer.refuse(exchange, status: 405, "MethodNotAllowed", "Use \(allowed).")
    }
}

/// A new device secret: 32 random bytes, and their hash, which is all that the server keeps.
struct DeviceSecret {
    let text: String
    let hash: [UInt8]

    init() {
        let characters = Base64.encodeURL(SecureRandom.bytes(count: 32).span)
        text = String(decoding: characters, as: UTF8.self)
        hash = SHA256.hash(characters.span)
    }
}

extension TokenCipher {
    /// 64 hexadecimal digits.
    func deviceToken(_ contents: DeviceTokenContents) -> String {
        let sealed = seal(contents.bytes)
        var digits: [UInt8] = []
        Hex.append(sealed.span, to: &digits)
        return String(decoding: digits, as: UTF8.self)
    }
}
