// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import PushCore
internal import PushHTTP
internal import PushStore

/// JSON answers of the device API and the admin API.
enum ControlAnswer {
    /// Sends a value.
    static func send(_ exchange: HTTPExchange, status: Int = 200, _ value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let body = try? encoder.encode(value) else {
            preconditionFailure("our own answers hold only text and numbers")
        }
        exchange.addField("content-type", "application/json")
        exchange.respond(status: status, body: Array(body))
    }

    /// Done, and nothing to say.
    static func sendNothing(_ exchange: HTTPExchange) { exchange.respond(status: 204) }

    /// Refuses what has waited too long: for its own end, or for the store.
    static func giveUp(_ exchange: HTTPExchange) {
        guard !exchange.isComplete else { return refuse(exchange, .unavailable("it does not answer")) }
        refuse(exchange, status: 408, "RequestTimeout", "Send the whole request within 15 seconds.")
    }

    /// Refuses with a stable word and a sentence for a person.
    static func refuse(_ exchange: HTTPExchange, status: Int, _ error: String, _ detail: String) {
        if status == 503 { exchange.addField("retry-after", "10") }
        if status == 401 { exchange.addField("www-authenticate", "Bearer") }
        send(exchange, status: status, DeviceAPI.Failure(error: error, detail: detail))
    }

    /// Refuses what the store refused.
    static func refuse(_ exchange: HTTPExchange, _ refusal: StoreRefusal) {
        refuse(exchange, status: refusal.status, refusal.word, refusal.detail)
    }

    /// Reads a body that must be one JSON object of this shape; answers 400 itself when it is not.
    static func body<Body: Decodable>(_ type: Body.Type, of exchange: HTTPExchange) -> Body? {
        guard !exchange.bodyOverflowed else {
            refuse(
                exchange, status: 413, "TooLarge", "Send at most \(Limits.controlBodyByteCountMax) bytes.")
            return nil
        }
        let bytes = exchange.body
        do throws(JSONError) { try JSONValidator.validateObject(bytes.span) } catch {
            refuse(
                exchange, status: 400, "BadJSON", "Send one JSON object; byte \(error.offset) is wrong.")
            return nil
        }
        do {
            return try JSONDecoder().decode(Body.self, from: Data(bytes))
        } catch {
            refuse(exchange, status: 400, "BadRequest", BodyDefect.text(error))
            return nil
        }
    }
}

extension StoreRefusal {
    /// The HTTP status of the device and admin API.
    var status: Int {
        switch self {
        case .unauthorized: 401
        case .badEnrolmentCode, .broadcastsNotAllowed: 403
        case .unknownTopic, .unknownDevice, .unknownKey, .unknownTeam, .unknownCertificate, .unknownChannel,
            .unknownPolicy:
            404
        case .alreadyExists, .traceOff: 409
        case .tooMany: 429
        case .unavailable: 503
        }
    }

    /// The stable word.
    var word: String {
        switch self {
        case .unauthorized: "Unauthorized"
        case .badEnrolmentCode: "BadEnrolmentCode"
        case .unknownTopic: "UnknownTopic"
        case .unknownDevice: "UnknownDevice"
        case .unknownKey: "UnknownKey"
        case .unknownTeam: "UnknownTeam"
        case .unknownCertificate: "UnknownCertificate"
        case .unknownChannel: "UnknownChannel"
        case .unknownPolicy: "UnknownPolicy"
        case .broadcastsNotAllowed: "BroadcastsNotAllowed"
        case .alreadyExists: "AlreadyExists"
        case .traceOff: "TraceOff"
        case .tooMany: "TooMany"
        case .unavailable: "Unavailable"
        }
    }

    /// What to do.
    var detail: String {
        switch self {
        case .unauthorized: "No device has this secret: enrol again."
        case .badEnrolmentCode: "The code is unknown, used or too old: ask the administrator for a new one."
        case .unknownTopic: "No app has this topic: add it with `posthorn app add`."
        case .unknownDevice: "No device has this id: see `posthorn device list`."
        case .unknownKey: "No key has this id: see `posthorn key list`."
        case .unknownTeam: "No app or key is of this team: see `posthorn app list`."
        case .unknownCertificate: "No certificate has this fingerprint: see `posthorn certificate list`."
        case .unknownChannel: "The app has no such channel in this environment: see `posthorn channel list`."
        case .unknownPolicy: "Nothing is set there: see `posthorn policy list`."
        case .broadcastsNotAllowed: "The app may not have channels: `posthorn app set TOPIC --broadcasts on`."
        case .alreadyExists: "It exists already: list what there is, or choose another name."
        case .traceOff: "The trace is switched off: set trace = on in the server's configuration and start it again."
        case .tooMany: "A limit was reached: see the reference on limits."
        case .unavailable(let text): "The store cannot write now (\(text)): try again."
        }
    }
}
