// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushStore
internal import PushTLS

/// The enrolment of devices.
extension DeviceEndpoint {
    /// `POST /v1/devices`: enrols a device, with a code or on a server with open enrolment.
    func enrol(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        guard let body = ControlAnswer.body(DeviceAPI.Enrolment.self, of: exchange) else { return }
        let isNamed = (1...Limits.displayNameByteCountMax).contains(body.name.utf8.count)
        guard isNamed, (1...Limits.displayNameByteCountMax).contains(body.platform.utf8.count) else {
            return ControlAnswer.refuse(
                exchange, status: 400, "BadRequest",
                "name and platform must have 1 to \(Limits.displayNameByteCountMax) bytes.")
        }
        let lengths = Limits.requestIDByteCountMin...Limits.requestIDByteCountMax
        guard body.requestID.map({ lengths.contains($0.utf8.count) }) ?? true else {
            return ControlAnswer.refuse(
                exchange, status: 400, "BadRequest",
                "request_id must have \(lengths.lowerBound) to \(lengths.upperBound) bytes.")
        }
        guard allowsEnrolment(withCode: body.code != nil, exchange, connection) else { return }
        let requestHash = body.requestID.map { SHA256.hash(Array($0.utf8).span) }
        if let requestHash, !beginsAlone(.enrolment(requestHash), exchange, connection) { return }
        let characters = DeviceSecret.randomCharacters()
        let device = DeviceID(rawValue: SecureRandom.uint64() >> 1)
        let request = StoreRequest.NewDevice(
            codeHash: body.code.map(EnrolmentCode.hash), device: device,
            secretHash: { DeviceSecret(of: $0, characters).credential.secretHash }, name: body.name,
            platform: body.platform, requestHash: requestHash,
            authority: services.context.authorities.servedOwnFingerprint)
        services.perform(.enrol(request), for: exchange, on: connection) { [unowned self] result, exchange in
            switch result {
            case .success(.enrolled(let enrolled)):
                if enrolled != device {
                    // A repetition counts like a wrong credential, so that a client cannot repeat an enrolment endlessly.
                    // An agent needs one or two after a lost answer. The earlier secrets of the device are invalid now.
                    _ = services.countWrongCredential(on: connection)
                    secrets.remove(enrolled)
                }
                let secret = DeviceSecret(of: enrolled, characters)
                secrets.insert(enrolled, for: secret.credential)
                ControlAnswer.send(
                    exchange, status: 201,
                    DeviceAPI.EnrolledDevice(deviceID: enrolled.text, deviceSecret: secret.text))
            case .success: ControlAnswer.refuseUnexpected(exchange, services.context.log)
            case .failure(.badEnrolmentCode): refuseCode(exchange, connection)
            case .failure(let refusal): ControlAnswer.refuse(exchange, refusal)
            }
        }
    }

    /// Returns whether an enrolment may reach the store; otherwise answers it.
    private func allowsEnrolment(
        withCode hasCode: Bool, _ exchange: HTTPExchange, _ connection: ServerConnection
    ) -> Bool {
        if hasCode {
            if services.allowsProof(on: connection) { return true }
            ControlAnswer.refuseStranger(exchange)
            return false
        }
        guard services.settings.configuration.hasOpenEnrolment else {
            services.context.log.refused(.badEnrolmentCode, on: connection)
            refuseCode(exchange, connection)
            return false
        }
        let network = connection.source.network
        guard let seconds = services.settings.rates.takeEnrolment(of: network, now: services.loop.events.now) else {
            return true
        }
        ControlAnswer.refuseRate(
            exchange, "Too many devices of this network enrol. Wait for the time in retry-after, or use a code.",
            retryAfterSeconds: seconds)
        return false
    }

    private func refuseCode(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        if let seconds = services.countWrongCredential(on: connection) {
            return ControlAnswer.refuseStranger(exchange, retryAfterSeconds: seconds)
        }
        ControlAnswer.refuse(exchange, .badEnrolmentCode)
    }
}
