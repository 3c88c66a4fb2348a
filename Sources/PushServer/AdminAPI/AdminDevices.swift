// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushServing
internal import PushStore

/// `/v1/devices`: the devices that receive notifications.
struct AdminDevices: AdminResource {
    let services: LoopServices
    let takesParameters = true

    func answer(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String],
        _ parameters: [AdminTarget.Parameter]
    ) {
        guard parameters.isEmpty || rest.isEmpty else { return AdminAnswer.refuseParameters(exchange) }
        switch (exchange.method, rest.count) {
        case (.get, 0): listDevices(exchange, connection, parameters)
        case (_, 0): AdminAnswer.refuseMethod(exchange, allowed: "GET")
        case (.get, 1), (.patch, 1), (.delete, 1): device(exchange, connection, rest[0])
        case (_, 1): AdminAnswer.refuseMethod(exchange, allowed: "GET, PATCH, DELETE")
        default: AdminAnswer.refusePath(exchange)
        }
    }

    /// Sends one page of the devices; the next request continues after its last one.
    private func listDevices(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ parameters: [AdminTarget.Parameter]
    ) {
        var (after, limit): (DeviceID?, Int) = (nil, Limits.listedDeviceCountMax)
        for parameter in parameters {
            switch parameter.name {
            case "after":
                guard let device = DeviceID(text: parameter.value) else {
                    return ControlAnswer.refuse(
                        exchange, status: 400, "BadParameter",
                        "after must be a device ID: 16 lower-case hexadecimal digits."
                    )
                }
                after = device
            case "limit":
                guard let count = Int(parameter.value), (1...Limits.listedDeviceCountMax).contains(count) else {
                    return ControlAnswer.refuse(
                        exchange, status: 400, "BadParameter",
                        "limit must be a number from 1 to \(Limits.listedDeviceCountMax).")
                }
                limit = count
            default:
                return ControlAnswer.refuse(
                    exchange, status: 400, "BadParameter", "The parameters are after and limit.")
            }
        }
        perform(.allDevices(.list(after: after, countMax: limit)), exchange, connection) { answer, exchange in
            if case .devices(let devices, let next) = answer {
                ControlAnswer.send(exchange, AdminAPI.Devices(devices: devices, next: next?.text))
            }
        }
    }

    private func device(_ exchange: HTTPExchange, _ connection: ServerConnection, _ id: String) {
        guard let device = DeviceID(text: id) else { return ControlAnswer.refuse(exchange, .unknownDevice) }
        if exchange.method == .patch { return rename(device, exchange, connection) }
        guard exchange.method == .get else {
            return perform(.administer(device, .remove), exchange, connection) { [services] _, exchange in
                // Its requests would still count as those of a device.
                services.context.deviceSecrets.remove(device)
                ControlAnswer.sendNothing(exchange)
            }
        }
        perform(.administer(device, .describe), exchange, connection, Self.sendDevice)
    }

    private static let change = AdminBody(members: [AdminBody.Member(name: "name", kind: .text, isRequired: true)])

    private func rename(_ device: DeviceID, _ exchange: HTTPExchange, _ connection: ServerConnection) {
        guard let change = Self.change.read(AdminAPI.DeviceChange.self, of: exchange) else { return }
        guard AdminAnswer.isNameGood(change.name, exchange) else { return }
        perform(
            .administer(device, .rename(change.name)), thenLookUp: .administer(device, .describe), exchange, connection,
            Self.sendDevice)
    }

    private static func sendDevice(_ answer: StoreAnswer, _ exchange: HTTPExchange) {
        if case .device(let device) = answer { ControlAnswer.send(exchange, device) }
    }
}
