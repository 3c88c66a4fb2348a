// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension AdminEndToEnd {
    /// Runs the commands of docs/how-to/send-from-scripts.md.
    struct ScriptPageTests {
        @Test func `the commands of the page about scripts work as printed`() async throws {
            let stack = try await TestStack()
            let lines = Self.commands()
            func first(_ start: String) throws -> String { try #require(lines.first { $0.hasPrefix(start) }) }
            try await run(try first("posthorn app add"), on: stack)
            let app = try #require(try first("posthorn register").split(separator: " ").dropFirst(2).first)
            try await stack.user.posthorn("register", String(app))
            let created = try await run(try first("posthorn token create"), on: stack)
            let token = String(try #require(created.output.firstMatch(of: #/\btk_[0-9A-Za-z_-]+/#)?.0))
            SecretWords.add("a send token", token)

            let requests = lines.filter { $0.hasPrefix("curl ") }
            #expect(requests.count == 4)
            for request in requests {
                #expect(try await run(request, token: token, on: stack).output.contains(#""accepted":1"#), "\(request)")
            }
            try await run(try first("posthorn send"), on: stack)
            for body in ["91 % of /var is in use", "Backup failed"] {
                try await stack.user.waitForEntry("\(body) arrives") { $0.body == body }
            }
            try await eventually("each notification arrives", evidence: { stack.server.url }) {
                // `curl` and `posthorn send` without a title, and Gotify's form, send the same text.
                try await stack.user.inbox().count { $0.body == "Backup done" } == 3
            }
        }

        /// Returns the commands of the page's shell blocks, each on one line and without its comment.
        private static func commands() -> [String] {
            let page = readText("\(RepositoryPaths.root)/docs/how-to/send-from-scripts.md").replacing("\\\n", with: " ")
            return page.matches(of: #/\n *```sh\n((?s:.*?))```/#).flatMap { block in
                block.1.split(separator: "\n").map {
                    $0.replacing(#/ +# .*/#, with: "").trimmingCharacters(in: .whitespaces)
                }
            }
        }

        /// Runs a command in a shell in which the host name on the page resolves to the test server.
        @discardableResult
        private func run(_ command: String, token: String = "", on stack: TestStack) async throws -> ProgramResult {
            let server = stack.server
            let files = try TemporaryDirectory()
            // The server's certificate does not contain this name.
            try files.write(
                """
                insecure
                silent
                show-error
                fail-with-body
                connect-to = "push.example.org:2197:127.0.0.1:\(server.port)"

                """, to: ".curlrc")
            return try await RunningProcess.run(
                "/bin/sh", ["-c", "PATH=\(RepositoryPaths.programs):$PATH; \(command)"],
                environment: [
                    "POSTHORN_ADMIN_SOCKET": server.admin.path, "CURL_HOME": files.path, "TOKEN": token,
                ]
            ).succeeded()
        }
    }
}
