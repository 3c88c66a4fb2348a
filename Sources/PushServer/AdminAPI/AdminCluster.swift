// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushServing
internal import PushStore

/// `/v1/cluster`: the nodes of the cluster, and PostgreSQL; `/v1/cluster/nodes/NAME` changes a node.
struct AdminCluster: AdminResource {
    let services: LoopServices

    func answer(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String],
        _ parameters: [AdminTarget.Parameter]
    ) {
        if rest.count == 2, rest[0] == "nodes" { return answerNode(exchange, connection, rest[1]) }
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

    private func answerNode(_ exchange: HTTPExchange, _ connection: ServerConnection, _ node: String) {
        switch exchange.method {
        case .patch:
            guard let change = Self.nodeChange.read(ClusterAPI.NodeChange.self, of: exchange) else { return }
            perform(.cluster(.change(.setDraining(node: node, change.isDraining))), exchange, connection)
        case .delete: perform(.cluster(.change(.remove(node: node))), exchange, connection)
        default: AdminAnswer.refuseMethod(exchange, allowed: "PATCH, DELETE")
        }
    }
}
