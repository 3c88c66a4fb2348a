// SPDX-License-Identifier: Apache-2.0

internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushStore
internal import PushTLS

/// `/v1/send-tokens`: the tokens with which scripts send.
struct AdminSendTokens: AdminResource {
    let services: LoopServices
    let takesParameters = true

    private static let newToken = AdminBody(members: [
        AdminBody.Member(name: "topic", kind: .text, isRequired: true), AdminBody.Member(name: "name", kind: .text),
        AdminBody.Member(name: "expires_at", kind: .number(0...Int64.max, meaning: "UNIX seconds")),
    ])
    /// The number of bytes of a token's hash that are its ID.
    private static let idByteCount = 4

    func answer(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String],
        _ parameters: [AdminTarget.Parameter]
    ) {
        guard parameters.isEmpty || (exchange.method == .get && rest.isEmpty && parameters.map(\.name) == ["app"])
        else { return AdminAnswer.refuseParameters(exchange) }
        switch (exchange.method, rest.count) {
        case (.get, 0): list(parameters.first?.value, exchange, connection)
        case (.post, 0): create(exchange, connection)
        case (_, 0): AdminAnswer.refuseMethod(exchange, allowed: "GET, POST")
        case (.delete, 1): revoke(rest[0], exchange, connection)
        case (_, 1): AdminAnswer.refuseMethod(exchange, allowed: "DELETE")
        default: AdminAnswer.refusePath(exchange)
        }
    }

    private func list(_ topic: String?, _ exchange: HTTPExchange, _ connection: ServerConnection) {
        perform(.control(.sendToken(.list(topic: topic.map { TopicName($0) }))), exchange, connection) {
            answer, exchange in
            guard case .sendTokens(let tokens) = answer else { return }
            ControlAnswer.send(exchange, CredentialAPI.SendTokens(tokens: tokens.map(description)))
        }
    }

    private func create(_ exchange: HTTPExchange, _ connection: ServerConnection) {
        guard let body = Self.newToken.read(CredentialAPI.NewSendToken.self, of: exchange) else { return }
        let now = Timestamp.now.roundedDownToSeconds
        guard body.expiresAt.map({ $0 > now }) ?? true else {
            return ControlAnswer.refuse(exchange, status: 400, "BadRequest", "expires_at must be in the future.")
        }
        let (context, text) = (services.context, Identifier.makeSendToken())
        let hash = SHA256.hash(Array(text.utf8).span)
        let request = SendTokenRequest.add(
            hash: hash, topic: body.topic, name: body.name ?? "", expiresAt: body.expiresAt)
        perform(.control(.sendToken(request)), exchange, connection) { _, exchange in
            var made = CredentialAPI.SendToken(
                id: Hex.string(Array(hash.prefix(Self.idByteCount))), topic: body.topic, name: body.name ?? "",
                createdAt: now, expiresAt: body.expiresAt)
            made.token = text
            made.serverURL = context.serverURL
            made.caFile = context.installation.authorityFile
            context.log.info("send_token_created", ["id": made.id, "topic": body.topic.text])
            ControlAnswer.send(exchange, status: 201, made)
        }
    }

    private func revoke(_ id: String, _ exchange: HTTPExchange, _ connection: ServerConnection) {
        guard let bytes = Hex.decode(Array(id.utf8).span), bytes.count == Self.idByteCount else {
            return ControlAnswer.refuse(exchange, .unknownSendToken)
        }
        let log = services.context.log
        perform(.control(.sendToken(.revoke(id: bytes))), exchange, connection) { _, exchange in
            log.info("send_token_revoked", ["id": id])
            ControlAnswer.sendNothing(exchange)
        }
    }

    private func description(of token: SendToken) -> CredentialAPI.SendToken {
        CredentialAPI.SendToken(
            id: Hex.string(token.id), topic: services.directory.topic(token.topic)?.topic.name ?? TopicName(""),
            name: token.name, createdAt: token.createdAt, expiresAt: token.expiresAt)
    }
}
