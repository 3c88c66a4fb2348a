// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushStore

/// `/v1/devices` and `/v1/enrolment-codes`: who gets notifications.
extension AdminEndpoint {
    func devices(_ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String]) {
        switch (exchange.method, rest.count) {
        case (.get, 0):
            perform(.devices, exchange, connection) { answer, exchange in
                if case .devices(let devices) = answer {
                    ControlAnswer.send(exchange, AdminAPI.Devices(devices: devices))
                }
            }
        case (_, 0): Self.refuseMethod(exchange, allowed: "GET")
        case (.get, 1), (.delete, 1): device(exchange, connection, rest[0])
        case (_, 1): Self.refuseMethod(exchange, allowed: "GET, DELETE")
        default: Self.refusePath(exchange)
        }
    }

    private func device(_ exchange: HTTPExchange, _ connection: ServerConnection, _ id: String) {
        guard let device = DeviceID(text: id) else { return ControlAnswer.refuse(exchange, .unknownDevice) }
        guard exchange.method == .get else { return perform(.removeDevice(device), exchange, connection) }
        perform(.device(device), exchange, connection) { answer, exchange in
            if case .device(let device) = answer { ControlAnswer.send(exchange, device) }
        }
    }

    func enrolmentCodes(_ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String]) {
        guard rest.isEmpty else { return Self.refusePath(exchange) }
        guard exchange.method == .post else { return Self.refuseMethod(exchange, allowed: "POST") }
        let context = loop.context
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
        let request = StoreRequest.addEnrolmentCode(
            hash: EnrolmentCode.hash(code.secret), expiresUnixSeconds: expires)
        perform(request, exchange, connection) { _, exchange in
            ControlAnswer.send(
                exchange, status: 201,
                AdminAPI.EnrolmentCode(
                    code: code.text, expiresAt: expires, serverURL: context.serverURL,
                    caFile: context.installation.authorityFile))
        }
    }
}
