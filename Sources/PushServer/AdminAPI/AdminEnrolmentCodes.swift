// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushServing
internal import PushStore

/// `/v1/enrolment-codes`: the codes with which devices enrol.
struct AdminEnrolmentCodes: AdminResource {
    let services: LoopServices

    func answer(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String],
        _ parameters: [AdminTarget.Parameter]
    ) {
        switch (exchange.method, rest.count) {
        case (.get, 0): listCodes(exchange, connection)
        case (.post, 0): createCode(exchange, connection)
        case (_, 0): AdminAnswer.refuseMethod(exchange, allowed: "GET, POST")
        case (.delete, 1):
            guard let id = Hex.decode(Array(rest[0].utf8).span), id.count == Self.codeIDByteCount else {
                return ControlAnswer.refuse(exchange, .unknownCode)
            }
            perform(.control(.revokeEnrolmentCode(id: id)), exchange, connection)
        case (_, 1): AdminAnswer.refuseMethod(exchange, allowed: "DELETE")
        default: AdminAnswer.refusePath(exchange)
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
        perform(.control(.enrolmentCodes), exchange, connection) { answer, exchange in
            guard case .enrolmentCodes(let codes) = answer else { return }
            ControlAnswer.send(
                exchange,
                CredentialAPI.UnusedCodes(
                    codes: codes.map { code in
                        // All codes have the same lifetime, so the store does not keep the time of creation.
                        CredentialAPI.UnusedCode(
                            id: Self.codeID(code.id[...]),
                            createdAt: code.expiresAt.advanced(bySeconds: -Limits.enrolmentCodeLifeSeconds),
                            expiresAt: code.expiresAt)
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
        let expires = Timestamp.now.roundedDownToSeconds.advanced(bySeconds: Limits.enrolmentCodeLifeSeconds)
        let hash = EnrolmentCode.hash(code.secret)
        let request = ControlRequest.addEnrolmentCode(hash: hash, expiresAt: expires)
        perform(.control(request), exchange, connection) { _, exchange in
            ControlAnswer.send(
                exchange, status: 201,
                CredentialAPI.EnrolmentCode(
                    code: code.text, expiresAt: expires, serverURL: context.serverURL,
                    caFile: context.installation.authorityFile, id: Self.codeID(hash.prefix(Self.codeIDByteCount))))
        }
    }
}
