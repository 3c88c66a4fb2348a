// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// `posthorn key`: the keys with which back-ends sign provider tokens.
package enum KeyCommands {
    static let group = CommandNode(
        group: "key", "Create, list and revoke signing keys of back-ends.",
        children: [create, list, revoke], defaultChild: "list")

    private static let create = CommandNode(
        Command(
            "create", "Create a signing key.",
            discussion: """
                Writes the private key to AuthKey_KEYID.p8, readable by its owner only, and prints the key id and the \
                team id: the three things that every APNs library asks for. The server does not keep the private key; \
                who loses the file creates another key.
                """,
            options: [
                Option(
                    "topic", short: "t", value: "TOPIC", "Only this topic; every topic of the team if left out.",
                    repeatable: true),
                Option(
                    "environment", short: "e", value: "NAME", "Only production or development; both if left out.",
                    values: .choice(Environment.allCases.map(\.rawValue))),
                Option("team", value: "TEAM", "The team; the server's own if left out."),
                Option(
                    "output", short: "o", value: "FILE", "Where to write the key: a file or a directory.",
                    values: .file),
            ],
            examples: [
                Explanation("posthorn key create", "A key for all apps, in ./AuthKey_KEYID.p8."),
                Explanation("posthorn key create --topic org.example.Mail -o mail.p8", "A key for one app."),
                Explanation("posthorn key create --environment development", "A key that reaches no production."),
            ])
    ) { (invocation, surroundings) throws(CommandError) in
        try create(invocation, client: surroundings.admin(invocation))
    }

    private static let list = CommandNode(Command("list", "List the keys.")) {
        (invocation, surroundings) throws(CommandError) in
        report(of: try surroundings.admin(invocation).send(.get("keys"), for: AdminAPI.Keys.self))
    }

    private static let revoke = CommandNode(
        Command(
            "revoke", "Revoke a key: nothing signed with it is accepted from now on.",
            arguments: [Argument("KEYID", "The key id, ten characters.")], options: [SharedOptions.yes])
    ) { (invocation, surroundings) throws(CommandError) in
        let keyID = invocation.arguments[0]
        try Console.confirm("Revoke key \(keyID)?", unless: invocation.has("yes"))
        try surroundings.admin(invocation).send(.delete("keys", keyID))
        return Report("Revoked \(keyID).", json: Done())
    }

    private static func create(_ invocation: Invocation, client: AdminClient) throws(CommandError) -> Report {
        let output = invocation.value("output")
        // Before the server makes a key that could not be kept.
        do throws(FileError) {
            try LocalFile.checkCreation(output ?? ".")
        } catch {
            throw .file(error)
        }
        let key = try client.send(
            createRequest(invocation), for: AdminAPI.Key.self, about: invocation.values("topic"))
        guard let pem = key.privateKey, isKeyID(key.keyID) else {
            throw .badAnswer(of: "the server", detail: "a key without its private half or its id")
        }
        let path = path(for: key.keyID, output: output)
        do throws(FileError) {
            try LocalFile.create(path, holding: Array(pem.utf8))
        } catch {
            // Nobody has the private half: the key must not stay valid.
            try? client.send(.delete("keys", key.keyID))
            throw .file(error)
        }
        return report(of: key, path: path)
    }

    /// What `key create` asks of the server.
    package static func createRequest(_ invocation: Invocation) -> AdminRequest {
        let topics = invocation.values("topic")
        return .post(
            "keys",
            AdminAPI.NewKey(
                teamID: invocation.value("team"), topics: topics.isEmpty ? nil : topics,
                environment: invocation.value("environment").flatMap(Environment.init)))
    }

    /// Whether a key id has ten characters A-Z and 0-9: only then it may become part of a file name.
    package static func isKeyID(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
    }

    /// Where the key goes: the output file, a file in the output directory, or one in the working directory.
    private static func path(for keyID: String, output: String?) -> String {
        let name = "AuthKey_\(keyID).p8"
        guard let output else { return name }
        guard LocalFile.isDirectory(output) else { return output }
        return output.hasSuffix("/") ? output + name : "\(output)/\(name)"
    }

    /// What `key create` prints: never the private key itself.
    package static func report(of key: AdminAPI.Key, path: String) -> Report {
        let text = Table.fields([
            ("Key ID", key.keyID), ("Team ID", key.teamID), ("File", path), ("Environment", environment(of: key)),
            ("Topics", topics(of: key)),
        ])
        let json = CreatedKey(
            keyID: key.keyID, teamID: key.teamID, topics: key.topics, environment: key.environment, file: path)
        return Report(text, json: json)
    }

    /// What `key list` prints.
    package static func report(of keys: AdminAPI.Keys) -> Report {
        guard !keys.keys.isEmpty else { return Report("No keys yet. Create one: posthorn key create", json: keys) }
        let table = Table(
            [
                .text("KEY ID"), .text("TEAM ID"), .text("ENVIRONMENT"), .text("CREATED"), .text("STATE"),
                .text("TOPICS"),
            ],
            rows: keys.keys.map { key in
                let revoked = key.revokedAt.map { "revoked \(LocalTime.text(unixSeconds: $0))" }
                return [
                    key.keyID, key.teamID, environment(of: key), LocalTime.text(unixSeconds: key.createdAt),
                    revoked ?? "good", topics(of: key),
                ]
            })
        return Report(table.text, json: keys)
    }

    private static func topics(of key: AdminAPI.Key) -> String {
        key.topics?.joined(separator: ", ") ?? "every topic of the team"
    }

    private static func environment(of key: AdminAPI.Key) -> String { key.environment?.rawValue ?? "both" }
}

/// The JSON of `key create`.
private struct CreatedKey: Encodable, Sendable {
    let keyID: String
    let teamID: String
    let topics: [String]?
    let environment: Environment?
    let file: String

    private enum CodingKeys: String, CodingKey {
        case topics, environment, file
        case keyID = "key_id"
        case teamID = "team_id"
    }
}
