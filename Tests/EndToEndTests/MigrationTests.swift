// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension EndToEnd {
    /// docs/how-to/migrate-from-apple.md, done as it says.
    struct MigrationTests {
        private static let page = readText("\(RepositoryPaths.root)/docs/how-to/migrate-from-apple.md")

        @Test(arguments: [
            ("api.push.apple.com", #" 200 "#),
            ("api.sandbox.push.apple.com", "The device token is for production, and this connection for development."),
            (
                "api.development.push.apple.com",
                "The device token is for production, and this connection for development."
            ),
        ])
        func `a client with Apple's names built in reaches the environment that the name says`(
            host: String, answer: String
        ) async throws {
            let names = try #require(Self.page.firstMatch(of: /\nnames = (.*apple\.com.*)\n/)).1
            let files = try TemporaryDirectory()
            let variables = files.path(of: "server.env")
            let server = try await EphemeralServer(options: ["--names", String(names), "--env-file", variables])
            // What DNS does for a back-end, this file does for curl.
            try files.write("connect-to = \"\(host):443:127.0.0.1:\(server.line.port)\"\n", to: ".curlrc")
            let script = try files.write(try #require(ClientPage("curl").program).code, to: "send.sh")
            let sent = try await RunningProcess.run(
                "/bin/sh", [script],
                environment: ClientPageRun.variables(in: readText(variables)).merging(
                    [
                        "CURL_HOME": files.path, "APNS_HOST": host, "APNS_PORT": "443",
                        "APNS_TOKEN": server.topic.token,
                    ]) { $1 })
            #expect(sent.output.contains(answer), "\(sent.output)\n\(sent.errorOutput)")
        }

        @Test func `the server takes each configuration of the page`() async throws {
            let blocks = Self.page.matches(of: /\n```ini\n((?s:.*?))```/).map { String($0.1) }
            #expect(blocks.count == 2)
            let files = try TemporaryDirectory()
            for (index, block) in blocks.enumerated() {
                let file = try files.write(
                    block + "data_directory = \(files.path(of: "data"))\n", to: "posthornd-\(index).ini")
                try await RunningProcess.run(
                    RepositoryPaths.program("posthornd"), ["--check-config", "--config", file]
                ).succeeded()
            }
        }
    }
}
