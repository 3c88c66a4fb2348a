// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushServing
internal import PushStore

/// `/v1/apps`: the apps that receive notifications.
struct AdminApps: AdminResource {
    let services: LoopServices
    let takesParameters = true

    private static let checks = AdminBody.Member(
        name: "checks", kind: .choice(PayloadChecks.allCases.map(\.rawValue)))

    private static let newApp = AdminBody(members: [
        AdminBody.Member(name: "topic", kind: .text, isRequired: true), AdminBody.Member(name: "name", kind: .text),
        AdminBody.Member(name: "team_id", kind: .text), checks, AdminBody.Member(name: "broadcasts", kind: .flag),
    ])

    private static let appChange = AdminBody(members: [
        AdminBody.Member(name: "name", kind: .text), checks, AdminBody.Member(name: "broadcasts", kind: .flag),
    ])

    func answer(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String],
        _ parameters: [AdminTarget.Parameter]
    ) {
        if rest.count >= 2, rest[1] == "channels" {
            return AdminChannels(services: services, topic: TopicName(rest[0]))
                .answer(exchange, connection, Array(rest[2...]), parameters)
        }
        guard parameters.isEmpty else { return AdminAnswer.refuseParameters(exchange) }
        switch (exchange.method, rest.count) {
        case (.get, 0):
            perform(.control(.apps), exchange, connection) { answer, exchange in
                if case .apps(let apps) = answer { ControlAnswer.send(exchange, AdminAPI.Apps(apps: apps)) }
            }
        case (.post, 0): addApp(exchange, connection)
        case (_, 0): AdminAnswer.refuseMethod(exchange, allowed: "GET, POST")
        case (.get, 1): perform(.control(.app(topic: TopicName(rest[0]))), exchange, connection, Self.sendApp)
        case (.patch, 1): changeApp(exchange, connection, topic: TopicName(rest[0]))
        case (.delete, 1): perform(.control(.removeApp(topic: TopicName(rest[0]))), exchange, connection)
        case (_, 1): AdminAnswer.refuseMethod(exchange, allowed: "GET, PATCH, DELETE")
        case (_, 2) where rest[1] == "webhook":
            AdminWebhook(services: services, topic: TopicName(rest[0])).answer(exchange, connection)
        default: AdminAnswer.refusePath(exchange)
        }
    }

    private func addApp(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        guard let body = Self.newApp.read(AdminAPI.NewApp.self, of: exchange) else { return }
        guard body.topic.isValid else {
            return ControlAnswer.refuse(
                exchange, status: 400, "BadTopic",
                "Invalid topic: use 1 to \(Limits.topicByteCountMax) letters, digits, dots, hyphens and underscores, "
                    + "for example com.example.MyApp.")
        }
        let name = body.name ?? body.topic.text
        guard let teamID = team(body.teamID, exchange), AdminAnswer.isNameGood(name, exchange) else { return }
        let app = AdminAPI.App(
            topic: body.topic, name: name, teamID: teamID, registrationCount: 0, pendingCount: 0,
            checks: body.checks ?? .warn, broadcasts: body.broadcasts ?? false)
        let request = ControlRequest.addApp(
            topic: app.topic, name: name, teamID: teamID, checks: app.checks, allowsBroadcasts: app.broadcasts)
        perform(.control(request), exchange, connection) { _, exchange in
            ControlAnswer.send(exchange, status: 201, app)
        }
    }

    private func changeApp(_ exchange: HTTPExchange, _ connection: ServerConnection, topic: TopicName) {
        guard let change = Self.appChange.read(AdminAPI.AppChange.self, of: exchange) else { return }
        guard change.name != nil || change.checks != nil || change.broadcasts != nil else {
            return ControlAnswer.refuse(
                exchange, status: 400, "NoChange", "Send at least one of: name, checks, broadcasts.")
        }
        if let name = change.name, !AdminAnswer.isNameGood(name, exchange) { return }
        let request = ControlRequest.changeApp(
            topic: topic, name: change.name, checks: change.checks, allowsBroadcasts: change.broadcasts)
        perform(
            .control(request), thenLookUp: .control(.app(topic: topic)), exchange, connection, Self.sendApp)
    }

    private static func sendApp(_ answer: StoreAnswer, _ exchange: HTTPExchange) {
        if case .app(let app) = answer { ControlAnswer.send(exchange, app) }
    }
}
