// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushStore

/// The admin API: JSON over a UNIX socket; the socket's permissions and peer credentials control the access.
///
/// This file routes requests; each resource has a file of its own.
final class AdminEndpoint: Endpoint {
    private let services: LoopServices
    private let resources: [String: any AdminResource]
    /// The resource `ephemeral`; nil unless the server is for tests.
    private let testMode: (any TestModeResource)?

    init(_ services: LoopServices, testMode: (any TestModeResource)?) {
        self.services = services
        self.testMode = testMode
        resources = [
            "status": AdminStatus(services: services), "apps": AdminApps(services: services),
            "keys": AdminKeys(services: services), "certificates": AdminCertificates(services: services),
            "devices": AdminDevices(services: services), "enrolment-codes": AdminEnrolmentCodes(services: services),
            "quotas": AdminQuotas(services: services), "policies": AdminPolicies(services: services),
            "trace": AdminTrace(services: services), "backups": AdminBackups(services: services),
            "authorities": AdminAuthorities(services: services), "send-tokens": AdminSendTokens(services: services),
            "queues": AdminQueues(services: services), "doctor": AdminDoctor(services: services),
            "cluster": AdminCluster(services: services),
            "send": AdminSend(services: services, publisher: SendPublisher(services)),
        ]
    }

    func headArrived(_ exchange: HTTPExchange, on connection: ServerConnection) -> Int {
        Limits.controlBodyByteCountMax
    }

    func refuseWhileClosing(_ exchange: HTTPExchange) { ControlAnswer.refuseStranger(exchange) }

    func answerTimedOut(_ exchange: HTTPExchange) { ControlAnswer.answerTimedOut(exchange) }

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
            if exchange.method != .get {
                services.context.log.administered(target.words, "\(exchange.method)".uppercased(), on: connection)
            }
            answer(exchange, connection, target)
        } catch {
            switch error {
            case .isElsewhere: AdminAnswer.refusePath(exchange)
            case .isNoText:
                ControlAnswer.refuse(
                    exchange, status: 400, "BadPath",
                    "The path contains an invalid percent escape.")
            }
        }
    }

    private func answer(_ exchange: HTTPExchange, _ connection: ServerConnection, _ target: AdminTarget) {
        let name = target.words[0]
        let rest = Array(target.words.dropFirst())
        if name == "ephemeral" { return answerTest(exchange, rest, target.parameters) }
        guard let resource = resources[name] else { return AdminAnswer.refusePath(exchange) }
        guard resource.takesParameters || target.parameters.isEmpty else {
            return AdminAnswer.refuseParameters(exchange)
        }
        resource.answer(exchange, connection, rest, target.parameters)
    }

    private func answerTest(_ exchange: HTTPExchange, _ rest: [String], _ parameters: [AdminTarget.Parameter]) {
        guard parameters.isEmpty else { return AdminAnswer.refuseParameters(exchange) }
        if let testMode { return testMode.answer(exchange, rest) }
        ControlAnswer.refuse(exchange, status: 404, "NotEphemeral", "Start the server with --ephemeral for this.")
    }
}

/// The resource `ephemeral` of the admin API, whose requests need neither the store nor the connection.
protocol TestModeResource {
    /// Answers a request.
    ///
    /// - Parameters:
    ///   - exchange: The request.
    ///   - rest: The parts of the path after the resource.
    func answer(_ exchange: HTTPExchange, _ rest: [String])
}
