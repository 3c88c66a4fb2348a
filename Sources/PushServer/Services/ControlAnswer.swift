// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushStore

/// The JSON responses of the device API and the admin API.
enum ControlAnswer {
    /// Sends a value as JSON.
    static func send(_ exchange: HTTPExchange, status: Int = 200, _ value: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let body = try? encoder.encode(value) else {
            preconditionFailure("the server's answers contain only text and numbers")
        }
        exchange.addField("content-type", "application/json")
        exchange.respond(status: status, body: Array(body))
    }

    /// Sends status 204 without a body.
    static func sendNothing(_ exchange: HTTPExchange) { exchange.respond(status: 204) }

    /// Refuses a request that waited too long for its own end or for the store.
    static func answerTimedOut(_ exchange: HTTPExchange) {
        guard !exchange.isComplete else { return refuse(exchange, .unavailable("no response")) }
        refuse(exchange, status: 408, "RequestTimeout", "Send the complete request within 15 seconds.")
    }

    /// Refuses a request with a stable error word and a sentence for the user.
    ///
    /// - Parameters:
    ///   - exchange: The request.
    ///   - status: 4xx or 5xx.
    ///   - error: The stable error word.
    ///   - detail: The problem and its solution.
    ///   - retryAfterSeconds: The value of `retry-after`. The default is 10 with status 503, and 1 if the store is
    ///     busy.
    static func refuse(
        _ exchange: HTTPExchange, status: Int, _ error: String, _ detail: String, retryAfterSeconds: Int64? = nil
    ) {
        if let seconds = retryAfterSeconds ?? (status == 503 ? 10 : error == StoreRefusal.busy.word ? 1 : nil) {
            exchange.addField("retry-after", "\(seconds)".utf8.span)
        }
        if status == 401 { exchange.addField("www-authenticate", "Bearer") }
        send(exchange, status: status, DeviceAPI.Failure(error: error, detail: detail))
    }

    /// Refuses a request for the reason that the store returned.
    static func refuse(_ exchange: HTTPExchange, _ refusal: StoreRefusal) {
        refuse(exchange, status: refusal.status, refusal.word, refusal.detail)
    }

    /// Refuses a body that is not a JSON object.
    static func refuse(_ exchange: HTTPExchange, _ error: JSONError) {
        refuse(
            exchange, status: 400, "BadJSON",
            "The body is not a JSON object. At byte \(error.offset): \(error.problem.sentence)")
    }

    /// Returns the body of a request, or answers 413 if it was too long.
    static func wholeBody(of exchange: HTTPExchange) -> [UInt8]? {
        guard exchange.bodyOverflowed else { return exchange.body }
        refuse(exchange, status: 413, "TooLarge", "Send at most \(exchange.bodyByteCountMax) bytes.")
        return nil
    }

    /// Refuses a request after a store answer of the wrong kind, a defect that must not end the server.
    static func refuseUnexpected(_ exchange: HTTPExchange, _ log: EventLog) {
        log.error("unexpected_store_answer", [:])
        refuse(exchange, .unavailable("unexpected answer"))
    }

    /// Decodes a body that must be one JSON object of this shape, or answers 400.
    static func body<Body: Decodable>(_ type: Body.Type, of exchange: HTTPExchange) -> Body? {
        guard let bytes = wholeBody(of: exchange) else { return nil }
        do throws(JSONError) { try JSONValidator.validateObject(bytes.span) } catch {
            refuse(exchange, error)
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
    /// The HTTP status in the device API and the admin API.
    var status: Int {
        switch self {
        case .unauthorized: 401
        case .badEnrolmentCode, .broadcastsNotAllowed: 403
        case .unknownTopic, .unknownDevice, .unknownKey, .unknownTeam, .unknownCertificate, .unknownChannel,
            .unknownPolicy, .unknownCode, .unknownSendToken, .unknownNode, .unknownShard, .noCluster:
            404
        case .alreadyExists, .nodeIsLive, .shardNotEverywhere, .slotsAreMoving, .moveEnded, .oldNode, .keysUnchanged,
            .traceOff:
            409
        case .tooMany, .busy: 429
        case .draining, .unavailable, .unconfirmed: 503
        }
    }

    /// The stable error word.
    var word: String {
        switch self {
        case .unauthorized: "Unauthorized"
        case .badEnrolmentCode: "BadEnrolmentCode"
        case .unknownTopic: "UnknownTopic"
        case .unknownDevice: "UnknownDevice"
        case .unknownCode: "UnknownCode"
        case .unknownKey: "UnknownKey"
        case .unknownTeam: "UnknownTeam"
        case .unknownCertificate: "UnknownCertificate"
        case .unknownSendToken: "UnknownToken"
        case .unknownChannel: "UnknownChannel"
        case .unknownPolicy: "UnknownPolicy"
        case .broadcastsNotAllowed: "BroadcastsNotAllowed"
        case .alreadyExists: "AlreadyExists"
        case .unknownNode: "UnknownNode"
        case .nodeIsLive: "NodeIsLive"
        case .unknownShard: "UnknownShard"
        case .shardNotEverywhere: "ShardNotEverywhere"
        case .slotsAreMoving: "SlotsAreMoving"
        case .moveEnded: "MoveEnded"
        case .oldNode: "OldNode"
        case .noCluster: "NoCluster"
        case .keysUnchanged: "KeysUnchanged"
        case .traceOff: "TraceOff"
        case .tooMany: "TooMany"
        case .busy: "Busy"
        case .draining, .unavailable, .unconfirmed: "Unavailable"
        }
    }

    /// The instruction for the user.
    var detail: String {
        switch self {
        case .unauthorized: "Invalid device secret. Enrol again."
        case .badEnrolmentCode: "The code is unknown, already used or expired. Ask the administrator for a new one."
        case .unknownTopic: "There is no app with this topic. Add it with `posthorn app add`."
        case .unknownDevice: "There is no device with this ID. See `posthorn device list`."
        case .unknownCode: "There is no unused code with this ID. See `posthorn code list`."
        case .unknownKey: "There is no key with this ID. See `posthorn key list`."
        case .unknownTeam: "There is no such team. See `posthorn team list`."
        case .unknownCertificate: "There is no certificate with this fingerprint. See `posthorn certificate list`."
        case .unknownSendToken: "There is no send token with this ID. See `posthorn token list`."
        case .unknownChannel: "The app has no such channel in this environment. See `posthorn channel list`."
        case .unknownPolicy: "There is no such policy. See `posthorn policy list`."
        case .broadcastsNotAllowed:
            "Broadcasts are off for this app. Enable them with `posthorn app set TOPIC --broadcasts on`."
        case .alreadyExists: "An object with this name already exists. Choose another name."
        case .unknownNode: "The cluster has no node with this name. See `posthorn cluster status`."
        case .nodeIsLive:
            "The node had a heartbeat in the last \(NodeChange.silenceSeconds) seconds. Stop its posthornd, wait, then try again. "
                + "If you cannot stop it, change the password of PostgreSQL and close the sessions of this node."
        case .unknownShard:
            "There is no such shard. See `posthorn cluster status`, and `shards` in the server's configuration."
        case .shardNotEverywhere:
            "A node does not use this shard, or uses another database for it. Set `shards` to the same addresses on "
                + "all nodes, restart them, and check that they reach this database."
        case .slotsAreMoving: "Other slots are being moved. Wait until they have moved."
        case .moveEnded:
            "Another node has ended the move, because this node did not answer PostgreSQL. Run 'posthorn cluster status', "
                + "then move the rest."
        case .oldNode: "A node runs an earlier version. Upgrade all nodes, or remove nodes that no longer exist."
        case .draining: "This node of the cluster takes no devices. Connect again."
        case .noCluster:
            "The server has no cluster, because its store is not in PostgreSQL. A cluster needs url in [store]."
        case .keysUnchanged(let text): text
        case .traceOff: "The trace is off. Set trace = on in the server's configuration and restart the server."
        case .tooMany:
            "A limit on the number of objects was reached. Remove unused ones. In the source of Posthorn, "
                + "docs/reference/limits.md lists the limits."
        case .busy: "Too many requests are waiting for the store, or the device is being moved. Try again later."
        case .unavailable(let text): "The store cannot perform this request (\(text)). Try again later."
        case .unconfirmed(let text):
            """
            The database did not confirm this request (\(text)). If it changes something, the change may have been \
            made: check before you repeat it.
            """
        }
    }
}
