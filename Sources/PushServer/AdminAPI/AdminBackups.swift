// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushHTTP
internal import PushServing
internal import PushStore

/// `/v1/backups`: copies of all data, created while the server runs.
struct AdminBackups: AdminResource {
    let services: LoopServices

    func answer(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String],
        _ parameters: [AdminTarget.Parameter]
    ) {
        guard rest.isEmpty else { return AdminAnswer.refusePath(exchange) }
        switch exchange.method {
        case .get: ControlAnswer.send(exchange, AdminAPI.Backups(last: services.context.backups.last))
        case .post: beginBackup(exchange, connection)
        default: AdminAnswer.refuseMethod(exchange, allowed: "GET, POST")
        }
    }

    private static let newBackup = AdminBody(members: [
        AdminBody.Member(name: "path", kind: .text), AdminBody.Member(name: "replace", kind: .flag),
    ])

    private func beginBackup(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        let configuration = services.context.settings.configuration
        guard configuration.storeAddress == nil else {
            return ControlAnswer.refuse(
                exchange, status: 409, "DataInPostgreSQL",
                configuration.linkAddress == nil
                    ? "The data is in PostgreSQL. Back up its database, and the files token.keys, team-id and authority.*."
                    : "The data of the cluster is in PostgreSQL. Back up the databases and the file cluster.key."
            )
        }
        guard let body = Self.newBackup.read(AdminAPI.NewBackup.self, of: exchange) else { return }
        let keeper = services.context.backups
        do throws(BackupKeeper.Refusal) {
            let order = try keeper.begin(body.path, replaces: body.replace ?? false)
            services.perform(.backup(order), for: exchange, on: connection) { result, exchange in
                switch result {
                case .success:
                    if let last = keeper.last { ControlAnswer.send(exchange, status: 202, last) }
                case .failure(let refusal): ControlAnswer.refuse(exchange, refusal)
                }
            }
        } catch {
            refuse(exchange, error)
        }
    }

    private func refuse(_ exchange: HTTPExchange, _ refusal: BackupKeeper.Refusal) {
        switch refusal {
        case .alreadyRunning:
            ControlAnswer.refuse(
                exchange, status: 409, "AlreadyRunning", "A backup is already running. Wait until it ends.")
        case .badPath:
            ControlAnswer.refuse(exchange, status: 400, "BadPath", "path must be absolute.")
        case .noParent(let parent):
            ControlAnswer.refuse(
                exchange, status: 400, "BadPath",
                "Directory \(parent) does not exist. Create it, or choose another path.")
        case .exists(let path):
            ControlAnswer.refuse(
                exchange, status: 409, "AlreadyExists",
                "\(path) already exists. Choose another path, or replace it (--force).")
        case .isNoBackup(let path):
            ControlAnswer.refuse(
                exchange, status: 409, "AlreadyExists",
                "\(path) is not a backup, or contains other files; not replaced. Choose another path.")
        case .cannotMake(let error):
            ControlAnswer.refuse(exchange, status: 500, "BackupNotMade", error.problem)
        }
    }
}
