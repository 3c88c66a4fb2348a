// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI
internal import PushCore

/// The command `posthorn token`: tokens with which scripts send to one app.
enum TokenCommands {
    static let group = CommandNode(
        group: "token", "Manage tokens with which scripts send to one app.",
        discussion: """
            A script sends with one HTTPS request and a token, without a signing key. A token is for one app. The server \
            keeps only its hash, so it is shown once. In the source of Posthorn, docs/how-to/send-from-scripts.md \
            explains the requests.
            """,
        children: [create, list, revoke], defaultChild: "list")

    private static let create = CommandNode(
        Command(
            "create", "Create a token for an app.",
            options: [
                Option("app", short: "a", value: "TOPIC", "The app's topic."),
                Option("name", value: "TEXT", "The purpose of the token, for the list."),
                Option("expires", value: "TIME", "The lifetime, for example 12h or 90d. Default: no end."),
            ],
            examples: [
                Explanation("posthorn token create --app org.example.Backup --name 'backup job'", "Create a token.")
            ])
    ) { (invocation, context) throws(CommandError) in
        guard let topic = invocation.value("app") else {
            throw .usage(invocation.error(.missingArgument(placeholder: "--app TOPIC")))
        }
        let new = CredentialAPI.NewSendToken(
            topic: TopicName(topic), name: invocation.value("name"), expiresAt: try end(invocation))
        let token = try context.admin(invocation).send(
            .post("send-tokens", new), for: CredentialAPI.SendToken.self, about: [new.topic])
        return report(of: token, isUnknownHere: HostName.isUnknownHere(HostName.host(of: token.serverURL ?? "")))
    }

    private static let list = CommandNode(
        Command(
            "list", "List tokens.",
            options: [Option("app", short: "a", value: "TOPIC", "List only the tokens of this app.")])
    ) { (invocation, context) throws(CommandError) in
        var request = AdminRequest.get("send-tokens")
        let topics = invocation.value("app").map { [TopicName($0)] } ?? []
        if let topic = topics.first { request = request.with([("app", topic.text)]) }
        return list(
            of: try context.admin(invocation).send(request, for: CredentialAPI.SendTokens.self, about: topics))
    }

    private static let revoke = CommandNode(
        Command(
            "revoke", "Revoke a token; requests with it are refused immediately.",
            arguments: [Argument("ID", "The ID from 'posthorn token list'.")], options: [SharedOptions.yes])
    ) { (invocation, context) throws(CommandError) in
        let id = invocation.arguments[0]
        guard !id.hasPrefix("tk_") else {
            throw .usage(
                invocation.error(.contradiction("this is the token; specify its ID from 'posthorn token list'")))
        }
        try Console.confirm("Revoke token \(id)?", unless: invocation.has("yes"))
        try context.admin(invocation).send(.delete("send-tokens", id))
        return Report("Revoked token \(oneLine(id)).", json: Done())
    }

    /// Returns the end of the lifetime; nil without `--expires`.
    private static func end(_ invocation: Invocation) throws(CommandError) -> Timestamp? {
        guard let text = invocation.value("expires") else { return nil }
        guard let seconds = TimeSpan.seconds(text), seconds > 0 else {
            throw .usage(
                invocation.error(
                    .badValue(of: "--expires", value: text, expected: TimeSpan.expectation(insteadOf: text))))
        }
        return LocalTime.now.roundedDownToSeconds.advanced(bySeconds: seconds)
    }

    // MARK: Output

    /// Formats the output of `token create`, with a command that works.
    ///
    /// If `isUnknownHere`, the server's name is this machine's own, and has no address.
    static func report(of token: CredentialAPI.SendToken, isUnknownHere: Bool = false) -> Report {
        let text = token.token ?? ""
        let server = token.serverURL ?? ""
        let url = "\(isUnknownHere ? HostName.localURL(server) : server)/v1/send/\(token.topic)"
        let authority = token.caFile.map { " --cacert \($0)" } ?? ""
        let fields = [
            ("Token", text), ("ID", token.id), ("App", token.topic.text),
            ("Valid until", token.expiresAt.map { LocalTime.text($0) } ?? "no end"),
        ]
        return Report(
            Table.fields(fields) + """


                The token is shown only once. Try it:
                curl\(authority) -H "Authorization: Bearer \(text)" -d "Backup done" \(url)
                """, json: token)
    }

    /// Formats the output of `token list`.
    static func list(of tokens: CredentialAPI.SendTokens) -> Report {
        guard !tokens.tokens.isEmpty else {
            return Report("No tokens. Create one with 'posthorn token create --app TOPIC'.", json: tokens)
        }
        let table = Table(
            [.text("ID"), .text("APP"), .text("NAME"), .text("CREATED"), .text("VALID UNTIL")],
            rows: tokens.tokens.map { token in
                [
                    token.id, oneLine(token.topic.text), oneLine(token.name), LocalTime.text(token.createdAt),
                    token.expiresAt.map { LocalTime.text($0) } ?? "no end",
                ]
            })
        return Report(table.text, json: tokens)
    }
}
