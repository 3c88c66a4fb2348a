// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI
internal import PushCore

/// The command `posthorn key`: manages the keys with which providers sign provider tokens.
enum KeyCommands {
    static let group = CommandNode(
        group: "key", "Manage the signing keys of back-ends.",
        children: [create, list, revoke], defaultChild: "list")

    private static let create = CommandNode(
        Command(
            "create", "Create a signing key.",
            discussion: """
                Writes the private key to AuthKey_KEYID.p8, readable by its owner only, and prints the key ID and the \
                team ID. APNs libraries require these three. The server does not keep the private key. If the file is \
                lost, create a new key.
                """,
            options: [
                Option(
                    "topic", short: "t", value: "TOPIC",
                    "A topic that the key may send to. Default: all topics of the team.",
                    repeatable: true),
                Option(
                    "environment", short: "e", value: "NAME", "production or development. Default: both.",
                    values: .choice(Environment.allCases.map(\.rawValue))),
                Option("team", value: "TEAM", "The team ID. Default: the server's team."),
                Option(
                    "output", short: "o", value: "FILE", "The file to write, or its directory.",
                    values: .file),
            ],
            examples: [
                Explanation("posthorn key create", "Write a key for all apps to ./AuthKey_KEYID.p8."),
                Explanation("posthorn key create --topic org.example.Mail -o mail.p8", "Create a key for one app."),
                Explanation("posthorn key create --environment development", "Create a key for development only."),
            ])
    ) { (invocation, context) throws(CommandError) in
        try create(invocation, client: context.admin(invocation))
    }

    private static let list = CommandNode(Command("list", "List the keys.")) {
        (invocation, context) throws(CommandError) in
        report(of: try context.admin(invocation).send(.get("keys"), for: CredentialAPI.Keys.self))
    }

    private static let revoke = CommandNode(
        Command(
            "revoke", "Revoke a key; provider tokens signed with it are refused.",
            arguments: [Argument("KEYID", "The key ID (10 characters).")], options: [SharedOptions.yes])
    ) { (invocation, context) throws(CommandError) in
        let keyID = invocation.arguments[0]
        try Console.confirm("Revoke key \(keyID)?", unless: invocation.has("yes"))
        try context.admin(invocation).send(.delete("keys", keyID))
        return Report("Revoked key \(keyID).", json: Done())
    }

    private static func create(_ invocation: Invocation, client: AdminClient) throws(CommandError) -> Report {
        let output = invocation.value("output")
        // The path is checked first, so that the server creates no key that cannot be saved.
        do throws(FileError) {
            try LocalFile.checkCreation(output ?? ".")
        } catch {
            throw .file(error)
        }
        let team = invocation.value("team")
        let hint = team.map { " It has no app yet; add one with 'posthorn app add TOPIC --team \(oneLine($0))'." } ?? ""
        let key = try TeamCommands.notingNewTeam(team, of: client, hint: hint) { () throws(CommandError) in
            try client.send(
                createRequest(invocation), for: CredentialAPI.Key.self,
                about: invocation.values("topic").map { TopicName($0) })
        }
        guard let pem = key.privateKey, ProviderTokenSigner.isKeyID(key.keyID) else {
            throw .badAnswer(of: "the server", detail: "key without private key or ID")
        }
        let path = path(for: key.keyID, output: output)
        do throws(FileError) {
            try LocalFile.create(path, holding: Array(pem.utf8))
        } catch {
            // The private key is lost, so the key must not stay valid.
            try? client.send(.delete("keys", key.keyID))
            throw .file(error)
        }
        return report(of: key, path: path)
    }

    /// Builds the request of `key create`.
    static func createRequest(_ invocation: Invocation) -> AdminRequest {
        let topics = invocation.values("topic").map { TopicName($0) }
        return .post(
            "keys",
            CredentialAPI.NewKey(
                teamID: invocation.value("team"), topics: topics.isEmpty ? nil : topics,
                environment: invocation.value("environment").flatMap(Environment.init)))
    }

    /// Returns the key file's path: the output file, a file in the output directory, or one in the working directory.
    private static func path(for keyID: String, output: String?) -> String {
        let name = "AuthKey_\(keyID).p8"
        guard let output else { return name }
        guard LocalFile.isDirectory(output) else { return output }
        return output.hasSuffix("/") ? output + name : "\(output)/\(name)"
    }

    /// Formats the output of `key create`; never prints the private key.
    static func report(of key: CredentialAPI.Key, path: String) -> Report {
        let text = Table.fields([
            ("Key ID", key.keyID), ("Team ID", key.teamID), ("File", path), ("Environment", environment(of: key)),
            ("Topics", topics(of: key)),
        ])
        let json = CreatedKey(
            keyID: key.keyID, teamID: key.teamID, topics: key.topics, environment: key.environment, file: path)
        return Report(text, json: json)
    }

    /// Formats the output of `key list`.
    static func report(of keys: CredentialAPI.Keys) -> Report {
        guard !keys.keys.isEmpty else { return Report("No keys. Create one with 'posthorn key create'.", json: keys) }
        let table = Table(
            [
                .text("KEY ID"), .text("TEAM ID"), .text("ENVIRONMENT"), .text("CREATED"), .text("STATE"),
                .text("TOPICS"),
            ],
            rows: keys.keys.map { key in
                let revoked = key.revokedAt.map { "revoked \(LocalTime.text($0))" }
                return [
                    key.keyID, key.teamID, environment(of: key), LocalTime.text(key.createdAt),
                    revoked ?? "valid", topics(of: key),
                ]
            })
        return Report(table.text, json: keys)
    }

    private static func topics(of key: CredentialAPI.Key) -> String {
        key.topics?.map(\.text).joined(separator: ", ") ?? "all topics of the team"
    }

    private static func environment(of key: CredentialAPI.Key) -> String { key.environment?.rawValue ?? "both" }
}

/// The JSON of `key create`.
private struct CreatedKey: Encodable, Sendable {
    let keyID: String
    let teamID: String
    let topics: [TopicName]?
    let environment: Environment?
    let file: String

    private enum CodingKeys: String, CodingKey {
        case topics, environment, file
        case keyID = "key_id"
        case teamID = "team_id"
    }
}
