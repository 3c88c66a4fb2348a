// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushStore

/// `/v1/authorities`: the authorities that devices trust, and the rotation of the server's own one.
///
/// In a cluster, they can only be read.
struct AdminAuthorities: AdminResource {
    let services: LoopServices

    private var keeper: AuthorityKeeper { services.context.authorities }

    private static let newAuthority = AdminBody(members: [
        AdminBody.Member(name: "role", kind: .choice(["file", "system", "current"]), isRequired: true),
        AdminBody.Member(name: "certificate", kind: .text),
    ])
    private static let rotation = AdminBody(members: [
        AdminBody.Member(name: "complete", kind: .flag), AdminBody.Member(name: "force", kind: .flag),
    ])
    private static let removal = AdminBody(members: [
        AdminBody.Member(name: "id", kind: .text, isRequired: true), AdminBody.Member(name: "force", kind: .flag),
    ])

    func answer(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String],
        _ parameters: [AdminTarget.Parameter]
    ) {
        guard exchange.method == .get || services.context.acceptedLinks == nil else {
            return ControlAnswer.refuse(
                exchange, status: 409, "NotInCluster",
                "A cluster cannot change the authorities that devices trust, because its nodes do not share "
                    + "announcements. See 'What PostgreSQL does not have yet' in docs/how-to/move-between-databases.md."
            )
        }
        switch (exchange.method, rest) {
        case (.get, []): withTrust(exchange, connection) { keeper.description($0, now: .now) }
        case (.post, []): announce(exchange, connection)
        case (_, []): AdminAnswer.refuseMethod(exchange, allowed: "GET, POST")
        case (.post, ["rotation"]): rotate(exchange, connection)
        case (.post, ["removal"]): remove(exchange, connection)
        case (_, ["rotation"]), (_, ["removal"]): AdminAnswer.refuseMethod(exchange, allowed: "POST")
        default: AdminAnswer.refusePath(exchange)
        }
    }

    private func announce(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        guard let body = Self.newAuthority.read(CredentialAPI.NewAuthority.self, of: exchange) else { return }
        change(exchange, connection) { _ throws(AuthorityKeeper.Refusal) in try keeper.announce(body, now: .now) }
    }

    private func rotate(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        guard let body = Self.rotation.read(CredentialAPI.AuthorityChange.self, of: exchange) else { return }
        guard body.complete == true else {
            return change(exchange, connection) { _ throws(AuthorityKeeper.Refusal) in try keeper.begin(now: .now) }
        }
        change(exchange, connection, force: body.force ?? false) { trust in
            keeper.unreadyCount(trust) ?? 0
        } by: { _ throws(AuthorityKeeper.Refusal) in
            try keeper.complete(now: .now)
        }
    }

    private func remove(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        guard let body = Self.removal.read(CredentialAPI.AuthorityChange.self, of: exchange), let id = body.id else {
            return
        }
        change(exchange, connection, force: body.force ?? false) { trust in
            keeper.cutOffCount(trust, without: id, now: .now)
        } by: { _ throws(AuthorityKeeper.Refusal) in
            try keeper.remove(id, now: .now)
        }
    }

    /// Changes the set, announces it to the devices, and answers with it.
    ///
    /// - Parameters:
    ///   - exchange: The request.
    ///   - connection: Its connection.
    ///   - force: Whether devices may be cut off.
    ///   - cutOffCount: Returns the number of devices that the change cuts off.
    ///   - change: Makes the change.
    private func change(
        _ exchange: HTTPExchange, _ connection: ServerConnection, force: Bool = true,
        cutOffCount: @escaping ([DeviceTrust]) -> Int = { _ in 0 },
        by change: @escaping ([DeviceTrust]) throws(AuthorityKeeper.Refusal) -> Void
    ) {
        lookUp(.allDevices(.trust), exchange, connection) { answer, exchange in
            guard case .trust(let trust) = answer else {
                return ControlAnswer.refuseUnexpected(exchange, services.context.log)
            }
            let count = force ? 0 : cutOffCount(trust)
            guard count == 0 else {
                let all = trust.reduce(0) { $0 + $1.deviceCount }
                return ControlAnswer.refuse(
                    exchange, status: 409, "DevicesCutOff",
                    "\(count) of \(all) devices would be cut off. Wait until they have connected, or repeat the "
                        + "command with --force.")
            }
            do throws(AuthorityKeeper.Refusal) {
                try change(trust)
            } catch {
                return refuse(exchange, error)
            }
            services.context.log.warning("authorities_changed", ["version": "\(keeper.version)"])
            perform(.control(.announceAuthorities(version: keeper.version)), exchange, connection) { _, exchange in
                ControlAnswer.send(exchange, keeper.description(trust, now: .now))
            }
        }
    }

    private func withTrust(
        _ exchange: HTTPExchange, _ connection: ServerConnection,
        _ answer: @escaping ([DeviceTrust]) -> CredentialAPI.Authorities
    ) {
        perform(.allDevices(.trust), exchange, connection) { result, exchange in
            guard case .trust(let trust) = result else { return }
            ControlAnswer.send(exchange, answer(trust))
        }
    }

    private func refuse(_ exchange: HTTPExchange, _ refusal: AuthorityKeeper.Refusal) {
        switch refusal {
        case .tooMany:
            ControlAnswer.refuse(
                exchange, status: 409, "TooMany",
                "At most \(Limits.announcedAuthorityCountMax) authorities can be announced. Remove one first.")
        case .badCertificate(let text): ControlAnswer.refuse(exchange, status: 400, "BadCertificate", text)
        case .unknown:
            ControlAnswer.refuse(exchange, status: 404, "UnknownAuthority", "No authority has this ID.")
        case .isConfigured:
            ControlAnswer.refuse(
                exchange, status: 409, "CertificateConfigured",
                "The server uses certificate_file, whose authority it cannot rotate. Announce the next authority.")
        case .noRotation:
            ControlAnswer.refuse(
                exchange, status: 409, "NoRotation",
                "No rotation has begun. Begin one with 'posthorn authority rotate'.")
        case .leavesServer:
            ControlAnswer.refuse(
                exchange, status: 409, "AuthorityInUse",
                "The server's certificate must lead to an announced authority, or devices could not connect. "
                    + "Announce the authority of the present certificate first, and remove it last.")
        case .failed(let error):
            ControlAnswer.refuse(
                exchange, status: 500, "AuthorityNotChanged", "\(error.path): \(error.problem) \(error.remedy)")
        }
    }
}
