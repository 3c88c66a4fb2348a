// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushServing
internal import PushStore

/// `/v1/cluster`: the nodes of the cluster, and PostgreSQL.
struct AdminCluster: AdminResource {
    let services: LoopServices

    func answer(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String],
        _ parameters: [AdminTarget.Parameter]
    ) {
        guard rest.isEmpty else { return AdminAnswer.refusePath(exchange) }
        guard exchange.method == .get else { return AdminAnswer.refuseMethod(exchange, allowed: "GET") }
        perform(.cluster(.status), exchange, connection) { answer, exchange in
            guard case .cluster(let cluster) = answer else { return }
            ControlAnswer.send(exchange, cluster)
        }
    }
}
