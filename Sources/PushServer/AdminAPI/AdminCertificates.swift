// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushServing
internal import PushStore

/// `/v1/certificates`: the credentials of providers that do not sign tokens.
struct AdminCertificates: AdminResource {
    let services: LoopServices

    private static let newCertificate = AdminBody(members: [
        AdminBody.Member(name: "topic", kind: .text, isRequired: true),
        AdminBody.Member(name: "kind", kind: .choice(CredentialAPI.NewCertificate.Kind.allCases.map(\.rawValue))),
        AdminBody.environment,
        AdminBody.Member(
            name: "days",
            kind: .number(
                1...Int64(Limits.certificateDayCountMax),
                meaning: "a number of days from 1 to \(Limits.certificateDayCountMax)")),
    ])

    private static let revokedCertificate = AdminBody(members: [
        AdminBody.Member(name: "fingerprint", kind: .text, isRequired: true)
    ])

    func answer(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String],
        _ parameters: [AdminTarget.Parameter]
    ) {
        switch (exchange.method, rest.count) {
        case (.get, 0): perform(.control(.certificates), exchange, connection, Self.sendList)
        case (.post, 0): addCertificate(exchange, connection)
        case (_, 0): AdminAnswer.refuseMethod(exchange, allowed: "GET, POST")
        case (.post, 1) where rest[0] == "revoked": revokeAny(exchange, connection)
        case (_, 1) where rest[0] == "revoked": AdminAnswer.refuseMethod(exchange, allowed: "POST")
        case (.delete, 1): revokeCertificate(exchange, connection, rest[0])
        case (_, 1): AdminAnswer.refuseMethod(exchange, allowed: "DELETE")
        default: AdminAnswer.refusePath(exchange)
        }
    }

    private static func sendList(_ answer: StoreAnswer, _ exchange: HTTPExchange) {
        guard case .certificates(let certificates) = answer else { return }
        ControlAnswer.send(
            exchange, CredentialAPI.Certificates(certificates: certificates.map { CredentialAPI.Certificate($0) }))
    }

    private func addCertificate(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        guard let body = Self.newCertificate.read(CredentialAPI.NewCertificate.self, of: exchange) else { return }
        guard let topic = services.directory.topic(named: Array(body.topic.text.utf8).span)?.topic else {
            return ControlAnswer.refuse(exchange, .unknownTopic)
        }
        do throws(InstallationError) {
            let issued = try services.context.installation.issueClientCertificate(
                body.kind ?? .single, topic: topic.name, teamID: topic.teamID, environment: body.environment,
                days: body.days ?? CredentialAPI.NewCertificate.daysUsual)
            perform(.control(.addCertificate(issued.record)), exchange, connection) { _, exchange in
                var certificate = CredentialAPI.Certificate(issued.record)
                certificate.certificate = String(decoding: issued.certificate, as: UTF8.self)
                certificate.privateKey = String(decoding: issued.privateKey, as: UTF8.self)
                ControlAnswer.send(exchange, status: 201, certificate)
            }
        } catch {
            ControlAnswer.refuse(
                exchange, status: 500, "CertificateNotMade", "\(error.path): \(error.problem) \(error.remedy)")
        }
    }

    private func revokeCertificate(_ exchange: HTTPExchange, _ connection: ServerConnection, _ digits: String) {
        guard let fingerprint = Self.fingerprint(digits) else {
            return ControlAnswer.refuse(exchange, .unknownCertificate)
        }
        perform(.control(.revokeCertificate(fingerprint)), exchange, connection)
    }

    /// Revokes a certificate of any issuer; the store adds one that it does not know.
    private func revokeAny(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        guard let body = Self.revokedCertificate.read(CredentialAPI.RevokedCertificate.self, of: exchange) else {
            return
        }
        guard let fingerprint = Self.fingerprint(body.fingerprint) else {
            return ControlAnswer.refuse(
                exchange, status: 400, "BadFingerprint",
                "Invalid fingerprint: use the SHA-256 of the certificate, 64 hexadecimal digits without colons.")
        }
        let now = Timestamp.now.roundedDownToSeconds
        let certificate = ProviderCertificate(
            fingerprint: fingerprint, serialNumber: "", teamID: "", topics: [], environment: nil,
            createdAt: now, expiresAt: .unixEpoch, revokedAt: now)
        perform(.control(.addCertificate(certificate)), exchange, connection)
    }

    private static func fingerprint(_ digits: String) -> [UInt8]? {
        guard digits.utf8.count == 64 else { return nil }
        return Hex.decode(Array(digits.utf8).span)
    }
}

extension CredentialAPI.Certificate {
    /// Creates the view of a certificate for administrators.
    fileprivate init(_ certificate: ProviderCertificate) {
        var digits: [UInt8] = []
        Hex.append(certificate.fingerprint.span, to: &digits)
        self.init(
            fingerprint: String(decoding: digits, as: UTF8.self), serialNumber: certificate.serialNumber,
            teamID: certificate.teamID, topics: certificate.topics, environment: certificate.environment,
            createdAt: certificate.createdAt, expiresAt: certificate.expiresAt, revokedAt: certificate.revokedAt)
    }
}
