// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushStore

/// The admin API: JSON over a UNIX socket; the socket's permissions and peer credentials control the access.
///
/// This file routes requests; each subject has a file of its own.
final class AdminEndpoint: Endpoint {
    let services: LoopServices
    /// The subject `ephemeral`; nil unless the server is for tests.
    private let testMode: (any AdminSubject)?

    init(_ services: LoopServices, testMode: (any AdminSubject)?) {
        self.services = services
        self.testMode = testMode
    }

    func headArrived(_ exchange: HTTPExchange, on connection: ServerConnection) -> Int {
        Limits.controlBodyByteCountMax
    }

    func turnAway(_ exchange: HTTPExchange) { ControlAnswer.refuseStranger(exchange) }

    func giveUp(_ exchange: HTTPExchange) { ControlAnswer.giveUp(exchange) }

    func answer(_ exchange: HTTPExchange, on connection: ServerConnection) {
        defer { services.loop.markDirty(connection) }
        guard connection.isAdministrator else {
            services.context.log.refusedAdministration(on: connection)
            return ControlAnswer.refuse(
                exchange, status: 403, "Forbidden",
                "Permission denied: only root and the server's user can use the admin API.")
        }
        do throws(AdminTarget.Problem) {
            let target = try AdminTarget(exchange.fields.bytes[exchange.path])
            answer(exchange, connection, target)
        } catch {
            switch error {
            case .isElsewhere: Self.refusePath(exchange)
            case .isNoText:
                ControlAnswer.refuse(
                    exchange, status: 400, "BadPath",
                    "The path contains an invalid percent escape.")
            }
        }
    }

    private func answer(_ exchange: HTTPExchange, _ connection: ServerConnection, _ target: AdminTarget) {
        let rest = Array(target.words.dropFirst())
        if target.words[0] == "apps", rest.count >= 2, rest[1] == "channels" {
            return channels(exchange, connection, topic: rest[0], Array(rest[2...]), target.parameters)
        }
        if target.words[0] == "trace" { return trace(exchange, connection, rest, target.parameters) }
        if target.words[0] == "devices" { return devices(exchange, connection, rest, target.parameters) }
        guard target.parameters.isEmpty else { return Self.refuseParameters(exchange) }
        switch target.words[0] {
        case "status": status(exchange, connection, rest)
        case "apps": apps(exchange, connection, rest)
        case "keys": keys(exchange, connection, rest)
        case "certificates": certificates(exchange, connection, rest)
        case "quotas": quotas(exchange, connection, rest)
        case "policies": policies(exchange, connection, rest)
        case "enrolment-codes": enrolmentCodes(exchange, connection, rest)
        case "backups": backups(exchange, connection, rest)
        case "ephemeral":
            if let testMode { return testMode.answer(exchange, rest) }
            ControlAnswer.refuse(
                exchange, status: 404, "NotEphemeral", "Start the server with --ephemeral for this.")
        default: Self.refusePath(exchange)
        }
    }

    private func status(_ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String]) {
        guard rest.isEmpty else { return Self.refusePath(exchange) }
        guard exchange.method == .get else { return Self.refuseMethod(exchange, allowed: "GET") }
        let context = services.context
        perform(.counts, exchange, connection) { answer, exchange in
            guard case .counts(let counts) = answer else { return }
            ControlAnswer.send(
                exchange,
                AdminAPI.Status(
                    version: ProductVersion.text, processID: ProcessFacts.processID,
                    startedAt: context.startedUnixSeconds,
                    serverURL: context.serverURL, dataDirectory: context.installation.directory,
                    teamID: context.installation.teamID, counts: counts,
                    caFile: context.installation.authorityFile,
                    diskFullSince: context.storeCondition.diskFullSince, refusals: context.rates.refusals,
                    connections: Self.connections(context.serving.limiter), memory: Self.memory(context.serving.memory))
            )
        }
    }

    private static func connections(_ limiter: ConnectionLimiter) -> AdminAPI.Connections {
        let counts = limiter.counts
        return AdminAPI.Connections(
            strangers: counts.strangers, devices: counts.devices, providers: counts.providers, limit: limiter.caps.all,
            shed: counts.shed, overLimit: counts.overLimit)
    }

    private static func memory(_ budget: MemoryBudget) -> AdminAPI.Memory {
        AdminAPI.Memory(
            heldBytes: budget.heldByteCount, budgetBytes: budget.byteCountMax, heldBack: budget.pauseCount)
    }
}

/// A subject of the admin API whose requests need neither the store nor the connection.
protocol AdminSubject {
    /// Answers a request.
    ///
    /// - Parameters:
    ///   - exchange: The request.
    ///   - rest: The parts of the path after the subject.
    func answer(_ exchange: HTTPExchange, _ rest: [String])
}

// MARK: Shared by the subjects

extension AdminEndpoint {
    /// Sends a request to the store, and answers with its refusal or with `succeed`.
    func perform(
        _ request: StoreRequest, _ exchange: HTTPExchange, _ connection: ServerConnection,
        _ succeed: @escaping (StoreAnswer, HTTPExchange) -> Void = { ControlAnswer.sendNothing($1) }
    ) {
        let log = services.context.log
        services.perform(request, for: exchange, on: connection) { result, exchange in
            switch result {
            case .success(let answer):
                succeed(answer, exchange)
                if !exchange.isAnswered { ControlAnswer.refuseUnexpected(exchange, log) }
            case .failure(let refusal): ControlAnswer.refuse(exchange, refusal)
            }
        }
    }

    /// Sends a change to the store and, when it is done, a request for the result.
    func perform(
        _ change: StoreRequest, thenLookUp request: StoreRequest, _ exchange: HTTPExchange,
        _ connection: ServerConnection, _ succeed: @escaping (StoreAnswer, HTTPExchange) -> Void
    ) {
        services.perform(change, for: exchange, on: connection) { [self] result, exchange in
            switch result {
            case .success: perform(request, exchange, connection, succeed)
            case .failure(let refusal): ControlAnswer.refuse(exchange, refusal)
            }
        }
    }

    /// Returns the team of a request, by default the server's own, or answers 400 if it is malformed.
    func team(_ given: String?, _ exchange: HTTPExchange) -> String? {
        let teamID = given ?? services.context.installation.teamID
        guard Identifier.isValid(teamID) else {
            ControlAnswer.refuse(
                exchange, status: 400, "BadTeamID", "Invalid team ID: use ten characters of A-Z and 0-9.")
            return nil
        }
        return teamID
    }

    /// Refuses a request for an unknown path.
    static func refusePath(_ exchange: HTTPExchange) {
        ControlAnswer.refuse(
            exchange, status: 404, "NotFound", "Unknown path. See docs/reference/admin-api.md.")
    }

    /// Refuses a request that has parameters but takes none.
    static func refuseParameters(_ exchange: HTTPExchange) {
        ControlAnswer.refuse(exchange, status: 400, "BadParameter", "This request takes no parameters.")
    }

    /// Refuses a method that the path does not allow.
    static func refuseMethod(_ exchange: HTTPExchange, allowed: StaticString) {
        exchange.addField("allow", allowed)
        ControlAnswer.refuse(exchange, status: 405, "MethodNotAllowed", "Allowed methods: \(allowed).")
    }
}
