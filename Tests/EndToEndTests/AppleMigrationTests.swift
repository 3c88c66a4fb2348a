// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ServerEndToEnd {
    /// Follows docs/how-to/migrate-from-apple.md as it is written.
    struct AppleMigrationTests {
        private static let page = readText("\(RepositoryPaths.root)/docs/how-to/migrate-from-apple.md")

        @Test func `a client with Apple's built-in names reaches the environment of the name`() async throws {
            let names = try #require(Self.page.firstMatch(of: /\nnames = (.*apple\.com.*)\n/)).1
            let network = try await LedNetwork(names: String(names))
            let answers = try await network.answers(of: try #require(ClientPage("curl").program).code)
            let refusal = "The device token is for production; this connection is for development."
            #expect(Set(answers.keys) == Set(names.split(separator: " ").map(String.init)))
            for (name, answer) in answers {
                let isDevelopment = name.contains("sandbox") || name.contains("development")
                #expect(
                    answer.hasPrefix(isDevelopment ? #"{"reason":"BadDeviceToken"} 400"# : " 200"), "\(name): \(answer)"
                )
                #expect(answer.contains(refusal) == isDevelopment, "\(name): \(answer)")
            }
        }

        @Test func `the server accepts each configuration of the page`() async throws {
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

/// A server with a registered device, in a network that resolves every name to it, as DNS can.
private struct LedNetwork {
    private static let topic = "org.example.Mail"

    private let names: [String]
    private let server: InstalledServer
    private let environment: [String: String]

    init(names: String) async throws {
        self.names = names.split(separator: " ").map(String.init)
        server = try await InstalledServer(options: ["--names", names])
        // curl reads this and connects there, whatever the name and port. The certificate must contain the name.
        try server.files.write("connect-to = \"::127.0.0.1:\(server.port)\"\n", to: ".curlrc")
        let target = try await server.addApp(Self.topic)
        let curl = Curl(home: server.files.path, authority: target.caFile, name: self.names[0])
        let code = try await server.enrolmentCode()
        let device = try await curl.send(
            "POST", "/v1/devices", body: #"{"code":"\#(code)","name":"desk","platform":"linux"}"#, as: Device.self)
        let registration = try await curl.send(
            "PUT", "/v1/apps/\(Self.topic)", secret: device.secret, as: Registration.self)
        environment = [
            "CURL_HOME": server.files.path, "APNS_PORT": "443", "APNS_CA_FILE": target.caFile,
            "APNS_KEY_FILE": target.keyFile, "APNS_KEY_ID": target.keyID, "APNS_TEAM_ID": target.teamID,
            "APNS_TOPIC": Self.topic, "APNS_TOKEN": registration.token,
        ]
    }

    /// Returns a script's output for each name.
    func answers(of script: String) async throws -> [String: String] {
        let file = try server.files.write(script, to: "send.sh")
        var answers: [String: String] = [:]
        for name in names {
            answers[name] = try await RunningProcess.run(
                "/bin/sh", [file], environment: environment.merging(["APNS_HOST": name]) { $1 }
            ).succeeded().output
        }
        return answers
    }

    private struct Device: Decodable {
        let secret: String

        private enum CodingKeys: String, CodingKey {
            case secret = "device_secret"
        }
    }

    private struct Registration: Decodable {
        let token: String

        private enum CodingKeys: String, CodingKey {
            case token = "device_token"
        }
    }
}

/// A curl with its own home directory that connects to one server name.
private struct Curl {
    let home: String
    let authority: String
    let name: String

    func send<Answer: Decodable>(
        _ method: String, _ path: String, secret: String? = nil, body: String? = nil, as type: Answer.Type
    ) async throws -> Answer {
        var arguments = ["--silent", "--show-error", "--fail", "--cacert", authority, "--request", method]
        if let secret { arguments += ["--header", "authorization: Bearer \(secret)"] }
        if let body { arguments += ["--data", body] }
        return try await RunningProcess.run(
            try RepositoryPaths.tool("curl"), arguments + ["https://\(name)\(path)"], environment: ["CURL_HOME": home]
        ).succeeded().decoded(type)
    }
}
