// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension AdminEndToEnd {
    /// Sends from scripts: with a token, in the forms of ntfy, Gotify, Alertmanager and Grafana, and as an administrator.
    struct SendTests {
        private static let app = TestStack.app

        private struct Token: Decodable {
            let token: String
            let id: String
        }

        private struct Result: Decodable {
            let id: String
            let accepted: Int
            let ignored: [String]?
        }

        /// The answer in ntfy's and Gotify's form.
        private struct Foreign: Decodable {
            let posthorn: Result
        }

        private func token(_ server: InstalledServer, _ options: String...) async throws -> Token {
            let made = try await RunningProcess.run(
                RepositoryPaths.program("posthorn"), ["token", "create", "--app", Self.app, "--json"] + options,
                environment: ["POSTHORN_ADMIN_SOCKET": server.admin.path]
            ).succeeded().decoded(Token.self)
            SecretWords.add("a send token", made.token)
            return made
        }

        /// Runs curl with the server's authority, and returns the status after the body.
        private func curl(_ server: InstalledServer, _ arguments: String...) async throws -> ProgramResult {
            try await RunningProcess.run(
                try RepositoryPaths.tool("curl"),
                ["-sS", "--cacert", server.authorityFile, "-w", "\n%{http_code}"] + arguments
            ).succeeded()
        }

        private func decoded<Value: Decodable>(_ type: Value.Type, _ result: ProgramResult) throws -> Value {
            let lines = result.output.split(separator: "\n")
            #expect(lines.last == "200", "\(result.output)")
            return try JSONDecoder().decode(type, from: Data((lines.first ?? "").utf8))
        }

        @Test(arguments: ["a/", "a/b", "a/b/c", "/"])
        func `an unknown path is answered`(rest: String) async throws {
            let server = try await InstalledServer()
            let result = try await curl(server, "-m", "10", "-d", "x", "\(server.url)/v1/send/\(rest)")
            #expect(result.output.hasSuffix("\n404"), "\(result.output)")
        }

        @Test func `pipelined requests are all answered`() async throws {
            let server = try await InstalledServer()
            let target = try await server.addApp(Self.app)
            let made = try await token(server)
            let body = String(repeating: "x", count: 1000)
            let request =
                "POST /v1/send/\(Self.app) HTTP/1.1\r\nhost: a\r\nauthorization: Bearer \(made.token)\r\n"
                + "content-length: \(body.utf8.count)\r\n\r\n\(body)"
            let peer = try TLSPeer(.init(target, alpn: "http/1.1"))
            try await peer.connect()
            let answer = try await peer.finish(Array(repeating: request, count: 200), .closeNotify)
            #expect(answer.statuses.count == 200 && answer.end == "closed")
            // Requests above the rate are refused.
            #expect(answer.statuses.first == 200 && Set(answer.statuses).isSubset(of: [200, 429]))
        }

        @Test func `one line of curl reaches the devices of an app, and nobody without the token`() async throws {
            let stack = try await TestStack()
            let made = try await token(stack.server)
            let url = "\(stack.server.url)/v1/send/\(Self.app)"
            let bearer = "Authorization: Bearer \(made.token)"
            let sent = try decoded(Result.self, try await curl(stack.server, "-H", bearer, "-d", "Backup done", url))
            #expect(sent.accepted == 1)
            try await stack.user.waitForEntry("it is in the inbox") { $0.body == "Backup done" }
            try await eventually("the trace has it") {
                try await stack.server.posthorn("trace", sent.id).output.contains("acknowledged")
            }

            let json = #"{"title":"Backup","body":"By JSON","badge":7}"#
            _ = try decoded(
                Result.self,
                try await curl(
                    stack.server, "-H", bearer, "-H", "Content-Type: application/json", "-d", json, url))
            try await stack.user.waitForEntry("it is in the inbox") { $0.body == "By JSON" }

            for (header, status) in [("Authorization: Bearer tk_wrong", "401"), ("X-Nothing: 1", "401")] {
                #expect(try await curl(stack.server, "-H", header, "-d", "x", url).output.hasSuffix("\n\(status)"))
            }
            let other = try await curl(
                stack.server, "-H", bearer, "-d", "x", "\(stack.server.url)/v1/send/org.example.Other")
            #expect(other.output.hasSuffix("\n403"))
            let wrong = try await curl(
                stack.server, "-H", bearer, "-H", "Content-Type: application/json", "-d", #"{"message":"x"}"#, url)
            #expect(wrong.output.contains("Did you mean 'body'?") && wrong.output.hasSuffix("\n400"))

            #expect(try await stack.server.posthorn("token", "list").output.contains(made.id))
            try await stack.server.posthorn("token", "revoke", made.id, "--yes")
            try await eventually("the revoked token is refused") {
                try await curl(stack.server, "-H", bearer, "-d", "x", url).output.hasSuffix("\n401")
            }
            #expect(try await stack.server.posthorn("token", "list").output.contains("No tokens."))
        }

        @Test func `an administrator sends without a key, a token and an authority`() async throws {
            let stack = try await TestStack()
            let sent = try await stack.server.posthorn("send", Self.app, "Lunch?")
            #expect(sent.output.contains("for 1 device"))
            try await stack.user.waitForEntry("it is in the inbox") { $0.body == "Lunch?" }
            let device = try #require(
                try await stack.server.posthorn("device", "list", "--json").output.firstMatch(
                    of: /"device_id":"([0-9a-f]+)"/)?.1)
            try await stack.server.posthorn("send", Self.app, "To one", "--device", String(device), "--title", "One")
            try await stack.user.waitForEntry("it is in the inbox") { $0.body == "To one" && $0.title == "One" }

            func fails(_ arguments: String...) async throws -> ProgramResult {
                try await RunningProcess.run(
                    RepositoryPaths.program("posthorn"), arguments,
                    environment: ["POSTHORN_ADMIN_SOCKET": stack.server.admin.path])
            }
            let nobody = try await fails("send", Self.app, "x", "--device", "00000000000000ff")
            #expect(nobody.exit == .code(4) && nobody.output.contains("for no device"))
            let unknown = try await fails("send", "org.example.Maill", "x")
            #expect(unknown.exit == .code(4) && unknown.errorOutput.contains("org.example.Maill"))
            let empty = try await fails("send", Self.app)
            #expect(empty.exit == .code(2) && empty.errorOutput.contains("nothing to send"))
            let nothing = try await fails("send", Self.app, "--payload", "-")
            #expect(nothing.exit == .code(1) && nothing.errorOutput.contains("standard input: empty"))
            let mixed = try await fails("send", Self.app, "x", "--key", "k.p8")
            #expect(mixed.exit == .code(2) && mixed.errorOutput.contains("--key"))
        }

        @Test func `programs for ntfy and Gotify send after a change of the URL`() async throws {
            let stack = try await TestStack()
            let made = try await token(stack.server)
            let (url, bearer) = (stack.server.url, "Authorization: Bearer \(made.token)")
            let message = try decoded(
                Foreign.self,
                try await curl(
                    stack.server, "-H", bearer, "-H", "Title: Unauthorized access detected", "-H", "Priority: urgent",
                    "-H", "Tags: warning,skull", "-H", "Icon: https://a.example/i.png",
                    "-d", "Remote access to phils-laptop detected. Act right away.", "\(url)/\(Self.app)"))
            #expect(message.posthorn.accepted == 1)
            #expect(message.posthorn.ignored == ["icon"])
            try await stack.user.waitForEntry("ntfy's header form") {
                $0.title == "⚠️ 💀 Unauthorized access detected" && $0.body.hasPrefix("Remote access")
            }
            _ = try decoded(
                Foreign.self,
                try await curl(
                    stack.server, "-u", ":\(made.token)", "-X", "PUT", "-d", "By PUT with a password",
                    "\(url)/\(Self.app)"))
            try await stack.user.waitForEntry("ntfy's password") { $0.body == "By PUT with a password" }
            let auth = Data("Bearer \(made.token)".utf8).base64EncodedString().replacing("=", with: "")
            _ = try decoded(
                Foreign.self,
                try await curl(stack.server, "\(url)/\(Self.app)/publish?message=By+GET&title=Hook&auth=\(auth)"))
            try await stack.user.waitForEntry("ntfy's GET form") { $0.body == "By GET" && $0.title == "Hook" }
            _ = try decoded(
                Foreign.self,
                try await curl(
                    stack.server, "-H", bearer, "-d", #"{"topic":"\#(Self.app)","message":"By ntfy's JSON"}"#, url))
            try await stack.user.waitForEntry("ntfy's JSON form") { $0.body == "By ntfy's JSON" }

            _ = try decoded(
                Foreign.self,
                try await curl(
                    stack.server, "-F", "title=my title", "-F", "message=my message", "-F", "priority=5",
                    "\(url)/message?token=\(made.token)"))
            try await stack.user.waitForEntry("Gotify's form") { $0.title == "my title" && $0.body == "my message" }
            _ = try decoded(
                Foreign.self,
                try await curl(
                    stack.server, "-H", "X-Gotify-Key: \(made.token)", "-H", "Content-Type: application/json",
                    "-d", #"{"message":"By Gotify's JSON"}"#, "\(url)/message"))
            try await stack.user.waitForEntry("Gotify's JSON") { $0.body == "By Gotify's JSON" }

            let delayed = try await curl(stack.server, "-H", bearer, "-H", "In: 30min", "-d", "x", "\(url)/\(Self.app)")
            #expect(delayed.output.contains("nothing was sent") && delayed.output.hasSuffix("\n400"))
            // Without a token, such a path is unknown to the provider API.
            #expect(try await curl(stack.server, "-d", "x", "\(url)/\(Self.app)").output.contains("BadPath"))
        }

        @Test func `alerts of Alertmanager and Grafana arrive, and a later one replaces an earlier one`() async throws {
            let stack = try await TestStack()
            let made = try await token(stack.server)
            let url = "\(stack.server.url)/v1/send/\(Self.app)"
            func post(_ path: String, _ body: String) async throws {
                _ = try decoded(
                    Result.self,
                    try await curl(
                        stack.server, "-H", "Authorization: Bearer \(made.token)", "-H",
                        "Content-Type: application/json", "-d", body, "\(url)/\(path)"))
            }
            let alert = #"{"status":"firing","labels":{"alertname":"Disk"},"annotations":{"summary":"Disk is full"}}"#
            try await post(
                "alertmanager",
                #"{"version":"4","groupKey":"g","status":"firing","commonLabels":{"alertname":"Disk"},"alerts":[\#(alert)]}"#
            )
            try await stack.user.waitForEntry("Alertmanager's alert") {
                $0.title == "[FIRING:1] Disk" && $0.body == "Disk is full"
            }
            try await post(
                "grafana", #"{"status":"firing","title":"[FIRING:1] Memory","alerts":[\#(alert)],"groupKey":"m"}"#)
            try await stack.user.waitForEntry("Grafana's alert") { $0.title == "[FIRING:1] Memory" }
        }

        @Test func `Apprise sends through its plugins for ntfy and Gotify`() async throws {
            let stack = try await TestStack()
            let made = try await token(stack.server)
            let python = try await VirtualEnvironment.with(["apprise==2.3.0"]).python
            let address = "127.0.0.1:\(stack.server.port)"
            for (url, body) in [
                ("ntfys://\(made.token)@\(address)/org-example-Mail?priority=high&tags=tada", "By Apprise for ntfy"),
                ("gotifys://\(address)/\(made.token)", "By Apprise for Gotify"),
            ] {
                try await RunningProcess.run(
                    python, ["-c", "from apprise.cli import main; main()", "-vv", "-t", "Title", "-b", body, url],
                    environment: ["REQUESTS_CA_BUNDLE": stack.server.authorityFile, "HOME": stack.server.files.path]
                ).succeeded()
                try await stack.user.waitForEntry("\(body)") { $0.body == body && $0.title.hasSuffix("Title") }
            }
        }
    }
}
