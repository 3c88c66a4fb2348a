// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushStore

/// `/v1/status`: the state of the server.
struct AdminStatus: AdminResource {
    let services: LoopServices

    func answer(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String],
        _ parameters: [AdminTarget.Parameter]
    ) {
        guard rest.isEmpty else { return AdminAnswer.refusePath(exchange) }
        guard exchange.method == .get else { return AdminAnswer.refuseMethod(exchange, allowed: "GET") }
        let context = services.context
        lookUp(.allDevices(.trust), exchange, connection) { answer, exchange in
            guard case .trust(let trust) = answer else {
                return ControlAnswer.refuseUnexpected(exchange, context.log)
            }
            let cutOffCount = context.authorities.cutOffCount(trust, now: .now)
            perform(.allDevices(.counts), exchange, connection) { answer, exchange in
                guard case .counts(let counts) = answer else { return }
                ControlAnswer.send(exchange, status(counts, cutOffDevices: cutOffCount))
            }
        }
    }

    private func status(_ counts: AdminAPI.Counts, cutOffDevices: Int) -> AdminAPI.Status {
        let context = services.context
        return AdminAPI.Status(
            version: ProductVersion.text, processID: ProcessFacts.processID, startedAt: context.startedAt,
            serverURL: context.serverURL, dataDirectory: context.installation.directory,
            teamID: context.installation.teamID, counts: counts, caFile: context.installation.authorityFile,
            diskFullSince: context.storeCondition.diskFullSince, refusals: context.settings.rates.refusals,
            connections: Self.connections(context.serving.limiter), memory: Self.memory(context.serving.memory),
            cutOffDevices: cutOffDevices,
            certificateExpiresAt: context.installation.certificateExpiry)
    }

    private static func connections(_ limiter: ConnectionLimiter) -> AdminAPI.Connections {
        let counts = limiter.counts
        return AdminAPI.Connections(
            strangers: counts.strangers, devices: counts.devices, providers: counts.providers, nodes: counts.nodes,
            limit: limiter.caps.all, shed: counts.shed, overLimit: counts.overLimit)
    }

    private static func memory(_ budget: MemoryBudget) -> AdminAPI.Memory {
        AdminAPI.Memory(
            heldBytes: budget.heldByteCount, budgetBytes: budget.byteCountMax, heldBack: budget.pauseCount)
    }
}
