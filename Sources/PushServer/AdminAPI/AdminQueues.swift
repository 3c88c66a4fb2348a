// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushServing
internal import PushStore

/// `/v1/queues`: the devices for which most notifications wait.
struct AdminQueues: AdminResource {
    let services: LoopServices

    func answer(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String],
        _ parameters: [AdminTarget.Parameter]
    ) {
        guard rest.isEmpty else { return AdminAnswer.refusePath(exchange) }
        guard exchange.method == .get else { return AdminAnswer.refuseMethod(exchange, allowed: "GET") }
        perform(.allDevices(.longestQueues(countMax: Limits.listedQueueCountMax)), exchange, connection) {
            answer, exchange in
            guard case .queues(let queues) = answer else { return }
            let list = queues.map { queue in
                AdminAPI.Queue(deviceID: queue.device.text, pending: queue.count, connected: queue.isConnected)
            }
            ControlAnswer.send(exchange, AdminAPI.Queues(queues: list))
        }
    }
}
