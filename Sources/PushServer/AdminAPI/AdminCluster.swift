// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushServing
internal import PushStore

/// `/v1/cluster`: the nodes of the cluster, and PostgreSQL.
///
/// `/v1/cluster/nodes/NAME` changes a node, `/v1/cluster/keys` the keys that all nodes share. `/v1/cluster/moves` moves
/// slots, and `/v1/cluster/upgrade` ends an upgrade.
struct AdminCluster: AdminResource {
    let services: LoopServices

    func answer(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String],
        _ parameters: [AdminTarget.Parameter]
    ) {
        if rest.count == 2, rest[0] == "nodes" { return answerNode(exchange, connection, rest[1]) }
        if rest == ["moves"] { return answerMove(exchange, connection) }
        if rest == ["upgrade"] { return answerUpgrade(exchange, connection) }
        if rest == ["keys"] { return answerKeys(exchange, connection) }
        guard rest.isEmpty else { return AdminAnswer.refusePath(exchange) }
        guard exchange.method == .get else { return AdminAnswer.refuseMethod(exchange, allowed: "GET") }
        perform(.cluster(.status), exchange, connection) { answer, exchange in
            guard case .cluster(let cluster) = answer else { return }
            ControlAnswer.send(exchange, cluster)
        }
    }

    private static let nodeChange = AdminBody(members: [
        AdminBody.Member(name: "draining", kind: .flag, isRequired: true)
    ])

    private static let slotMove = AdminBody(members: [
        AdminBody.Member(
            name: "shard", kind: .number(0...Int64(Limits.shardCountMax), meaning: "the number of a shard"),
            isRequired: true),
        AdminBody.Member(
            name: "count", kind: .number(1...Int64(SlotMap.slotCount), meaning: "a number of slots"), isRequired: true),
    ])

    private func answerMove(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        guard exchange.method == .post else { return AdminAnswer.refuseMethod(exchange, allowed: "POST") }
        guard let move = Self.slotMove.read(ClusterAPI.SlotMove.self, of: exchange) else { return }
        perform(.cluster(.moveSlots(to: move.shard, count: move.count)), exchange, connection)
    }

    private func answerUpgrade(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        guard exchange.method == .post else { return AdminAnswer.refuseMethod(exchange, allowed: "POST") }
        perform(.cluster(.finishUpgrade), exchange, connection)
    }

    private func answerNode(_ exchange: HTTPExchange, _ connection: ServerConnection, _ node: String) {
        switch exchange.method {
        case .patch:
            guard let change = Self.nodeChange.read(ClusterAPI.NodeChange.self, of: exchange) else { return }
            perform(.cluster(.change(.setDraining(node: node, change.isDraining))), exchange, connection)
        case .delete: perform(.cluster(.change(.remove(node: node))), exchange, connection)
        default: AdminAnswer.refuseMethod(exchange, allowed: "PATCH, DELETE")
        }
    }

    private static let keyChange = AdminBody(members: [
        AdminBody.Member(
            name: "action", kind: .choice(ClusterAPI.KeyChange.Action.allCases.map(\.rawValue)), isRequired: true)
    ])

    private func answerKeys(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        var change: KeyChange?
        switch exchange.method {
        case .get: break
        case .post:
            guard let body = Self.keyChange.read(ClusterAPI.KeyChange.self, of: exchange) else { return }
            change = KeyChange(body.action)
        default: return AdminAnswer.refuseMethod(exchange, allowed: "GET, POST")
        }
        perform(.cluster(.keys(change)), exchange, connection) { answer, exchange in
            guard case .clusterKeys(let keys) = answer else { return }
            ControlAnswer.send(exchange, keys)
        }
    }
}

extension KeyChange {
    fileprivate init(_ action: ClusterAPI.KeyChange.Action) {
        self =
            switch action {
            case .rotateTokenKey: .rotateTokenKey
            case .rotateClusterKey: .beginClusterKey
            case .completeClusterKey: .completeClusterKey
            case .cancelClusterKey: .cancelClusterKey
            }
    }
}
