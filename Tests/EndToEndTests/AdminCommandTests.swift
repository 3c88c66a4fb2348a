// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension AdminEndToEnd {
    /// Runs the commands for apps, keys and channels against a real server.
    struct AdminCommandTests {
        private let server: InstalledServer

        init() async throws { server = try await InstalledServer() }

        private func run(_ arguments: String...) async throws -> ProgramResult {
            try await RunningProcess.run(
                RepositoryPaths.program("posthorn"), arguments,
                environment: ["POSTHORN_ADMIN_SOCKET": server.admin.path])
        }

        @Test func `an app is added, changed and shown with its checks and broadcasts`() async throws {
            let added = try await server.posthorn("app", "add", "org.example.News", "--checks", "strict")
            #expect(added.output.contains("Checks         strict\nBroadcasts     off\n"))
            let changed = try await server.posthorn(
                "app", "set", "org.example.News", "--broadcasts", "on", "--name", "News")
            #expect(changed.output.contains("Name           News\n"))
            #expect(changed.output.contains("Checks         strict\nBroadcasts     on\n"))
            let json = try await server.posthorn("app", "set", "org.example.News", "--checks=off", "--json").output
            #expect(json == (try await server.posthorn("app", "show", "org.example.News", "--json").output))
            #expect(json.contains(#""broadcasts":true,"checks":"off","name":"News""#))
            let list = try await server.posthorn("app", "list").output
            #expect(list.contains(/\norg\.example\.News\s+News\s+\S+\s+off\s+on\s+0\s+0\n/), "\(list)")
        }

        @Test func `every command answers an unknown topic with the closest known one`()
            async throws
        {
            try await server.posthorn("app", "add", "org.example.News")
            let commands = [
                ["app", "show"], ["app", "remove"], ["channel", "list"], ["channel", "create"],
                ["trace", "--app"], ["lint", server.authorityFile, "--topic"],
                ["key", "create", "-o", server.files.path(of: "key.p8"), "--topic"],
            ]
            for command in commands {
                let result = try await RunningProcess.run(
                    RepositoryPaths.program("posthorn"), command + ["org.example.Nwes", "--socket", server.admin.path])
                #expect(result.exit == .code(4), "\(command): \(result)")
                #expect(result.errorOutput.contains("Did you mean 'org.example.News'?"), "\(result)")
            }
            let set = try await run("app", "set", "org.example.Nwes", "--name", "N")
            #expect(set.exit == .code(4) && set.errorOutput.contains("Did you mean 'org.example.News'?"))
            let other = try await run("app", "show", "com.else")
            #expect(
                other.exit == .code(4)
                    && other.errorOutput == "posthorn: no app with topic 'com.else'; see 'posthorn app list'\n")
            let removed = try await run("trace", "--app", "com.else")
            #expect(
                removed.errorOutput.hasSuffix(
                    "'posthorn app list'\n  For an app that was removed, specify a notification ID or --device ID.\n"))
            #expect(!FileManager.default.fileExists(atPath: server.files.path(of: "key.p8")))
        }

        @Test func `an app that exists is not added twice`() async throws {
            try await server.posthorn("app", "add", "org.example.News")
            let again = try await run("app", "add", "org.example.News")
            #expect(again.exit == .code(1))
            #expect(again.errorOutput == "posthorn: app 'org.example.News' already exists\n")
        }

        @Test func `app add reports a new team, and the teams are listed with their apps and keys`() async throws {
            let first = try await server.posthorn("app", "add", "org.example.News", "--team", "TEAM000001")
            #expect(first.errorOutput == "Created team TEAM000001.\n")
            let second = try await server.posthorn("app", "add", "org.example.Mail", "--team", "TEAM000001")
            #expect(second.errorOutput.isEmpty)
            try await server.posthorn("key", "create", "--team", "TEAM000001", "-o", server.files.path(of: "k.p8"))
            let list = try await server.posthorn("team", "list").output
            #expect(list.contains(/\n\S{10}     0     0  default\nTEAM000001     2     1\n/), "\(list)")
            #expect(try await server.posthorn("team").output == list)
            let other = try await server.posthorn(
                "key", "create", "--team", "TEAM000002", "-o", server.files.path(of: "other.p8"))
            #expect(
                other.errorOutput
                    == "Created team TEAM000002. It has no app yet; add one with 'posthorn app add TOPIC --team TEAM000002'.\n"
            )
        }

        @Test func `a code is listed by its ID and revoked, and then no device enrols with it`() async throws {
            #expect(try await server.posthorn("code", "list").output.hasPrefix("No unused codes."))
            let code = try await server.posthorn("enrol", "--json").decoded(Code.self)
            let other = try await server.posthorn("enrol", "--json").decoded(Code.self)
            let list = try await server.posthorn("code", "list").output
            #expect(list.contains("\n\(code.id)  20") && list.contains("\n\(other.id)  20"), "\(list)")
            #expect(!list.contains(code.code) && !list.contains(code.code.prefix(14)), "\(list)")
            #expect(try await server.posthorn("code", "revoke", code.id).output == "Revoked code \(code.id).\n")
            let again = try await run("code", "revoke", code.id)
            #expect(again.exit == .code(4))
            #expect(again.errorOutput == "posthorn: no unused code with ID '\(code.id)'; see 'posthorn code list'\n")
            let nonsense = try await run("code", "revoke", "zz")
            #expect(nonsense.exit == .code(4), "\(nonsense)")
            let rest = try await server.posthorn("code", "ls").output
            #expect(!rest.contains(code.id) && rest.contains(other.id), "\(rest)")
        }

        private struct Code: Decodable {
            let code: String
            let id: String
        }

        @Test func `a key is listed with its environment and topics`() async throws {
            try await server.posthorn("app", "add", "org.example.News")
            let file = server.files.path(of: "news.p8")
            let made = try await server.posthorn(
                "key", "create", "-o", file, "--environment", "development", "--topic", "org.example.News")
            #expect(made.output.contains("Environment  development\nTopics       org.example.News"))
            try await server.posthorn("key", "create", "-o", server.files.path(of: "any.p8"))
            let list = try await server.posthorn("key", "list").output
            #expect(list.split(separator: "\n").count == 3)
            #expect(list.contains(/\n\S{10}  \S{10}  development  .* valid  org\.example\.News\n/), "\(list)")
            #expect(list.contains(/\n\S{10}  \S{10}  both  .* valid  all topics of the team\n/), "\(list)")
        }

        @Test func `a channel is created, listed, shown and removed`() async throws {
            try await server.posthorn("app", "add", "org.example.News", "--broadcasts", "on")
            let none = try await server.posthorn("channel", "list", "org.example.News").output
            #expect(none == "No channels. Create one with 'posthorn channel create org.example.News'.\n")
            let created = try await server.posthorn("channel", "create", "org.example.News", "--json")
            let id = try created.decoded(Channel.self).id
            let other = try await server.posthorn(
                "channel", "create", "org.example.News", "-e", "development", "--policy", "none")
            #expect(other.output.contains("Environment    development\nStores         none\nSubscriptions  0\n"))
            let shown = try await server.posthorn("channel", "show", "org.example.News", id, "--json")
            #expect(shown.output == created.output)
            let list = try await server.posthorn("channel", "list", "org.example.News").output
            #expect(list.split(separator: "\n").count == 3 && list.contains("\n\(id)  production   last "))
            let some = try await server.posthorn("channel", "list", "org.example.News", "-e", "production").output
            #expect(some.split(separator: "\n").count == 2 && some.contains(id))
            let removed = try await server.posthorn("channel", "remove", "org.example.News", id)
            #expect(removed.output == "Removed channel \(id).\n")
            let gone = try await run("channel", "show", "org.example.News", id)
            #expect(gone.exit == .code(4) && gone.errorOutput.contains("posthorn channel list"))
        }

        @Test func `a channel for an app without broadcasts is refused with the command to allow them`() async throws {
            try await server.posthorn("app", "add", "org.example.Mail")
            let result = try await run("channel", "create", "org.example.Mail")
            #expect(result.exit == .code(5))
            #expect(result.errorOutput.contains("posthorn app set TOPIC --broadcasts on"))
        }

        @Test func `a broadcast is sent, and the answer has its IDs or the problem`() async throws {
            let target = try await server.addApp("org.example.News")
            try await server.posthorn("app", "set", "org.example.News", "--broadcasts", "on")
            let channel = try await server.posthorn("channel", "create", "org.example.News", "--policy=none", "--json")
                .decoded(Channel.self).id
            let words = [
                "send", "--socket", server.admin.path, "-k", target.keyFile, "--key-id", target.keyID, "-t",
                "org.example.News", "--title", "News", "--id", "EC1BF194-B3B2-424A-89F8-EA3F6C2B0C6E",
            ]
            let posthorn = RepositoryPaths.program("posthorn")
            let sent = try await RunningProcess.run(posthorn, words + ["--channel", channel]).succeeded()
            #expect(
                sent.output.contains(
                    /Status           200 accepted\napns-request-id  EC1BF194-B3B2-424A-89F8-EA3F6C2B0C6E\napns-unique-id   \S{36}/
                ),
                "\(sent)")
            // The local server's CA is trusted under its other name, too.
            try await RunningProcess.run(
                posthorn, words + ["--channel", channel, "--server", "localhost:\(server.port)"]
            ).succeeded()
            let kept = try await RunningProcess.run(posthorn, words + ["--channel", channel, "--expiration", "+60"])
            #expect(kept.exit == .code(1) && kept.errorOutput.contains("refused: BadExpirationDate\n"), "\(kept)")
            // An alert with this payload would be an error, because it shows nothing.
            let update = try server.files.write(
                #"{"aps":{"event":"update","content-state":{"goals":1}}}"#, to: "update.json")
            let linted = words.filter { $0 != "--title" && $0 != "News" } + ["-p", update, "--lint"]
            try await RunningProcess.run(posthorn, linted + ["--channel", channel]).succeeded()
            let alert = try await RunningProcess.run(posthorn, linted + ["--token", "00ff"])
            #expect(alert.exit == .code(1) && alert.errorOutput.contains("L-P01"), "\(alert)")
            let unknown = try await RunningProcess.run(
                posthorn, words + ["--channel", "AAAAAAAAAAAAAAAAAAAAAA==", "--json"])
            #expect(unknown.exit == .code(1) && unknown.output.contains(#""reason":"ChannelNotRegistered""#))
            #expect(unknown.output.contains(#""detail":"#), "\(unknown)")
        }

        @Test func `the server's findings about a payload are shown, as a warning or as the reason`() async throws {
            let (server, files) = (try await EphemeralServer(), try TemporaryDirectory())
            let topic = server.topic.topic
            let posthorn = RepositoryPaths.program("posthorn")
            let socket = ["--socket", server.line.adminSocket]
            let payload = try files.write(#"{"aps":{"alert":{"title":"Lunch"},"badge":-1}}"#, to: "payload.json")
            let send =
                ["send", "-k", server.line.keyFile, "--key-id", server.line.keyID, "-t", topic]
                + ["-d", server.topic.token, "-p", payload] + socket
            let warned = try await RunningProcess.run(posthorn, send).succeeded()
            #expect(warned.output.contains(/\nWarning +E L-G01 aps\.badge:/), "\(warned)")
            let json = try await RunningProcess.run(posthorn, send + ["--json"]).succeeded().output
            #expect(json.contains(#""warnings":["E L-G01 aps.badge: "#), "\(json)")
            try await RunningProcess.run(posthorn, ["app", "set", topic, "--checks", "strict"] + socket).succeeded()
            let refused = try await RunningProcess.run(posthorn, send)
            #expect(refused.exit == .code(1), "\(refused)")
            #expect(refused.errorOutput.contains("the server refused: PayloadEmpty\n  E L-G01 aps.badge: "))
            try await RunningProcess.run(posthorn, ["app", "set", topic, "--checks", "off"] + socket).succeeded()
            let silent = try await RunningProcess.run(posthorn, send).succeeded()
            #expect(!silent.output.contains("Warning"), "\(silent)")
        }

        @Test func `an authority that is announced already is reported as such`() async throws {
            try await server.posthorn("authority", "rotate")
            let again = try await server.posthorn("authority", "announce", "--own")
            #expect(again.errorOutput == "Nothing changed: the server already announces this CA.\n")
        }

        private struct Channel: Decodable {
            let id: String

            private enum CodingKeys: String, CodingKey {
                case id = "channel_id"
            }
        }
    }
}
