// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushStore

/// `/v1/devices` and `/v1/enrolment-codes`: the devices that receive notifications.
extension AdminEndpoint {
    func devices(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String],
        _ parameters: [AdminTarget.Parameter]
    ) {
        guard parameters.isEmpty || rest.isEmpty else { return Self.refuseParameters(exchange) }
        switch (exchange.method, rest.count) {
        case (.get, 0): listDevices(exchange, connection, parameters)
        case (_, 0): Self.refuseMethod(exchange, allowed: "GET")
        case (.get, 1), (.delete, 1): device(exchange, connection, rest[0])
        case (_, 1): Self.refuseMethod(exchange, allowed: "GET, DELETE")
        default: Self.refusePath(exchange)
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
        perform(.devices(after: after, countMax: limit), exchange, connection) { answer, exchange in
            if case .devices(let devices, let next) = answer {
                ControlAnswer.send(exchange, AdminAPI.Devices(devices: devices, next: next?.text))
            }
        }
    }

    private func device(_ exchange: HTTPExchange, _ connection: ServerConnection, _ id: String) {
        guard let device = DeviceID(text: id) else { return ControlAnswer.refuse(exchange, .unknownDevice) }
        guard exchange.method == .get else {
            return perform(.removeDevice(device), exchange, connection) { [services] _, exchange in
                // Its requests would still count as those of a device.
                services.context.deviceSecrets.remove(device)
                ControlAnswer.sendNothing(exchange)
            }
        }
        perform(.device(device), exchange, connection) { answer, exchange in
            if case .device(let device) = answer { ControlAnswer.send(exchange, device) }
        }
    }

    func enrolmentCodes(_ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String]) {
        switch (exchange.method, rest.count) {
        case (.get, 0): listCodes(exchange, connection)
        case (.post, 0): createCode(exchange, connection)
        case (_, 0): Self.refuseMethod(exchange, allowed: "GET, POST")
        case (.delete, 1):
            guard let id = Hex.decode(Array(rest[0].utf8).span), id.count == Self.codeIDByteCount else {
                return ControlAnswer.refuse(exchange, .unknownCode)
            }
            perform(.revokeEnrolmentCode(id: id), exchange, connection)
        case (_, 1): Self.refuseMethod(exchange, allowed: "DELETE")
        default: Self.refusePath(exchange)
        }
    }

    /// The number of bytes of a code's hash that are its ID.
    private static let codeIDByteCount = 4

    private static func codeID(_ bytes: ArraySlice<UInt8>) -> String {
        var digits: [UInt8] = []
        Hex.append(Array(bytes).span, to: &digits)
        return String(decoding: digits, as: UTF8.self)
    }

    private func listCodes(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        perform(.enrolmentCodes, exchange, connection) { answer, exchange in
            guard case .enrolmentCodes(let codes) = answer else { return }
            ControlAnswer.send(
                exchange,
                AdminAPI.UnusedCodes(
                    codes: codes.map { code in
                        // All codes have the same lifetime, so the store does not keep the time of creation.
                        AdminAPI.UnusedCode(
                            id: Self.codeID(code.id[...]),
                            createdAt: code.expiresUnixSeconds - Limits.enrolmentCodeLifeSeconds,
                            expiresAt: code.expiresUnixSeconds)
                    }))
        }
    }

    private func createCode(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        let context = services.context
        let code: EnrolmentCode
        do throws(InstallationError) {
            code = EnrolmentCode(
                secret: EnrolmentCode.makeSecret(),
                authorityFingerprint: try context.installation.authorityFingerprint())
        } catch {
            return ControlAnswer.refuse(
                exchange, status: 500, "CodeNotMade", "\(error.path): \(error.problem) \(error.remedy)")
        }
        let expires = WallClock.unixMilliseconds() / 1000 + Limits.enrolmentCodeLifeSeconds
        let hash = EnrolmentCode.hash(code.secret)
        let request = StoreRequest.addEnrolmentCode(hash: hash, expiresUnixSeconds: expires)
        perform(request, exchange, connection) { _, exchange in
            ControlAnswer.send(
                exchange, status: 201,
                AdminAPI.EnrolmentCode(
                    code: code.text, expiresAt: expires, serverURL: context.serverURL,
                    caFile: context.installation.authorityFile, id: Self.codeID(hash.prefix(Self.codeIDByteCount))))
        }
    }
}
