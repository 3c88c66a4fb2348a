// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushStore
internal import PushTLS

/// The admin API: JSON over a UNIX socket whose permissions and peer credentials decide who may.
final class AdminEndpoint: Endpoint {
    private unowned let loop: ServerLoop

    init(loop: ServerLoop) { self.loop = loop }

    func bodyByteCountMax(_ exchange: HTTPExchange) -> Int { Limits.controlBodyByteCountMax }

    func answer(_ exchange: HTTPExchange, on connection: ServerConnection) {
        defer { loop.markDirty(connection) }
        guard connection.isAdministrator else {
            return ControlAnswer.refuse(
                exchange, status: 403, "Forbidden", "Only root and the server's own user may administer it.")
        }
        let parts = exchange.fields.text(exchange.path).split(separator: "/", omittingEmptySubsequences: false)
            .dropFirst().map(String.init)
        guard parts.first == "v1", parts.count >= 2 else { return Self.refusePath(exchange) }
        let rest = Array(parts[2...])
        switch parts[1] {
        case "status" where rest.isEmpty && exchange.method == .get: status(exchange, connection)
        case "apps": apps(exchange, connection, rest)
        case "keys": keys(exchange, connection, rest)
        case "devices": devices(exchange, connection, rest)
        case "enrolment-codes" where rest.isEmpty && exchange.method == .post: enrolmentCode(exchange, connection)
        case "ephemeral": ephemeral(exchange, rest)
        default: Self.refusePath(exchange)
        }
    }

    // MARK: Status

    private func status(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        let context = loop.context
        perform(.counts, exchange, connection) { answer, exchange in
            guard case .counts(let counts) = answer else { return }
            ControlAnswer.send(
                exchange,
                AdminAPI.Status(
                    version: ProductVersion.text, processID: ProcessFacts.processID,
                    startedAt: context.startedUnixSeconds,
                    serverURL: context.serverURL, dataDirectory: context.installation.directory,
                    teamID: context.installation.teamID, counts: counts))
        }
    }

    // MARK: Apps

    private func apps(_ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String]) {
        switch (exchange.method, rest.count) {
        case (.get, 0):
            perform(.apps, exchange, connection) { answer, exchange in
                if case .apps(let apps) = answer { ControlAnswer.send(exchange, AdminAPI.Apps(apps: apps)) }
            }
        case (.post, 0): addApp(exchange, connection)
        case (.get, 1):
            perform(.app(topic: rest[0]), exchange, connection) { answer, exchange in
                if case .app(let app) = answer { ControlAnswer.send(exchange, app) }
            }
        case (.delete, 1): perform(.removeApp(topic: rest[0]), exchange, connection)
        default: Self.refusePath(exchange)
        }
    }

    private func addApp(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        guard let body = ControlAnswer.body(AdminAPI.NewApp.self, of: exchange) else { return }
        guard HeaderValues.isTopic(Array(body.topic.utf8).span) else {
            return ControlAnswer.refuse(
                exchange, status: 400, "BadTopic",
                "A topic is 1 to \(Limits.topicByteCountMax) letters, digits, dots, hyphens and underscores, "
                    + "for example com.example.MyApp.")
        }
        guard let teamID = team(body.teamID, exchange) else { return }
        let name = body.name ?? body.topic
        guard (1...Limits.displayNameByteCountMax).contains(name.utf8.count) else {
            return ControlAnswer.refuse(
                exchange, status: 400, "BadName", "A name is 1 to \(Limits.displayNameByteCountMax) bytes long.")
        }
        let app = AdminAPI.App(
            topic: body.topic, name: name, teamID: teamID, registrationCount: 0, pendingCount: 0)
        perform(.addApp(topic: body.topic, name: name, teamID: teamID), exchange, connection) { _, exchange in
            ControlAnswer.send(exchange, status: 201, app)
        }
    }

    /// The team of a request, else the server's own; answers 400 itself when it is malformed.
    private func team(_ given: String?, _ exchange: HTTPExchange) -> String? {
        let teamID = given ?? loop.context.installation.teamID
        guard Identifier.isValid(teamID) else {
            ControlAnswer.refuse(exchange, status: 400, "BadTeamID", "A team id is ten characters of A-Z and 0-9.")
            return nil
        }
        return teamID
    }

    // MARK: Keys

    private func keys(_ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String]) {
        switch (exchange.method, rest.count) {
        case (.get, 0):
            perform(.keys, exchange, connection) { answer, exchange in
                if case .keys(let keys) = answer { ControlAnswer.send(exchange, AdminAPI.Keys(keys: keys)) }
            }
        case (.post, 0): addKey(exchange, connection)
        case (.delete, 1): perform(.revokeKey(id: rest[0]), exchange, connection)
        default: Self.refusePath(exchange)
        }
    }

    private func addKey(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        guard let body = ControlAnswer.body(AdminAPI.NewKey.self, of: exchange),
            let teamID = team(body.teamID, exchange)
        else { return }
        for topic in body.topics ?? [] where loop.directory.topic(named: Array(topic.utf8).span) == nil {
            return ControlAnswer.refuse(exchange, .unknownTopic)
        }
        let made: (key: SigningKey, pem: String)
        do throws(TLSError) {
            made = try SigningKey.make(teamID: teamID, topics: body.topics)
        } catch {
            return ControlAnswer.refuse(exchange, status: 500, "KeyNotMade", error.description)
        }
        perform(.addKey(made.key), exchange, connection) { _, exchange in
            ControlAnswer.send(
                exchange, status: 201,
                AdminAPI.Key(
                    keyID: made.key.id, teamID: teamID, topics: body.topics, createdAt: made.key.createdUnixSeconds,
                    privateKey: made.pem))
        }
    }

    // MARK: Devices

    private func devices(_ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String]) {
        guard let text = rest.first else {
            guard exchange.method == .get else { return Self.refusePath(exchange) }
            return perform(.devices, exchange, connection) { answer, exchange in
                if case .devices(let devices) = answer {
                    ControlAnswer.send(exchange, AdminAPI.Devices(devices: devices))
                }
            }
        }
        guard rest.count == 1, let device = DeviceID(text: text) else {
            return ControlAnswer.refuse(exchange, .unknownDevice)
        }
        switch exchange.method {
        case .get:
            perform(.device(device), exchange, connection) { answer, exchange in
                if case .device(let device) = answer { ControlAnswer.send(exchange, device) }
            }
        case .delete: perform(.removeDevice(device), exchange, connection)
        case .head, .post, .put, .other: Self.refusePath(exchange)
        }
    }

    private func enrolmentCode(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        let context = loop.context
        let code = EnrolmentCode.make()
        let expires = WallClock.unixMilliseconds() / 1000 + Limits.enrolmentCodeLifeSeconds
        let request = StoreRequest.addEnrolmentCode(hash: EnrolmentCode.hash(code), expiresUnixSeconds: expires)
        perform(request, exchange, connection) { _, exchange in
            ControlAnswer.send(
                exchange, status: 201,
                AdminAPI.EnrolmentCode(
                    code: code, expiresAt: expires, serverURL: context.serverURL,
                    caFile: context.installation.authorityFile))
        }
    }

    // MARK: Ephemeral

    private func ephemeral(_ exchange: HTTPExchange, _ rest: [String]) {
        guard let devices = loop.builtInDevices, let failures = loop.context.orderedFailures else {
            return ControlAnswer.refuse(
                exchange, status: 404, "NotEphemeral", "Start the server with --ephemeral for this.")
        }
        switch (exchange.method, rest) {
        case (.get, ["notifications"]):
            ControlAnswer.send(exchange, AdminAPI.Received(notifications: devices.received))
        case (.delete, ["notifications"]):
            devices.forgetReceived()
            ControlAnswer.sendNothing(exchange)
        case (.post, ["fail"]):
            guard let body = ControlAnswer.body(AdminAPI.Fail.self, of: exchange) else { return }
            guard let reason = RejectionReason(rawValue: body.reason), (0...1_000_000).contains(body.count ?? 1) else {
                let known = RejectionReason.allCases.map(\.rawValue).joined(separator: ", ")
                return ControlAnswer.refuse(
                    exchange, status: 400, "BadReason", "reason is one of: \(known); count is 0 to 1000000.")
            }
            failures.order(reason, count: body.count ?? 1)
            ControlAnswer.sendNothing(exchange)
        default: Self.refusePath(exchange)
        }
    }

    // MARK: Common

    private func perform(
        _ request: StoreRequest, _ exchange: HTTPExchange, _ connection: ServerConnection,
        _ succeed: @escaping (StoreAnswer, HTTPExchange) -> Void = { ControlAnswer.sendNothing($1) }
    ) {
        loop.perform(request, for: exchange, on: connection) { result, exchange in
            switch result {
            case .success(let answer):
                succeed(answer, exchange)
                precondition(exchange.isAnswered, "the store answered a request with another request's answer")
            case .failure(let refusal): ControlAnswer.refuse(exchange, refusal)
            }
        }
    }

    private static func refusePath(_ exchange: HTTPExchange) {
        ControlAnswer.refuse(
            exchange, status: 404, "NotFound", "There is no such request: see the reference of the admin API.")
    }
}

extension SigningKey {
    /// Makes a key pair; the private half goes to the caller and is not kept.
    static func make(teamID: String, topics: [String]?) throws(TLSError) -> (key: SigningKey, pem: String) {
        let privateKey = try PrivateKey()
        let key = SigningKey(
            id: Identifier.make(), teamID: teamID, topics: topics, publicKey: privateKey.publicKeyDER,
            createdUnixSeconds: WallClock.unixMilliseconds() / 1000)
        return (key, String(decoding: privateKey.pem, as: UTF8.self))
    }
}
