// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// The program of a page, ready to run as its reader would run it: with a server and the variables of the pages.
final class ClientPageRun: Sendable {
    let server: EphemeralServer
    private let page: ClientPage
    private let interpreter: String
    private let file: String
    private let environment: [String: String]
    private let files: TemporaryDirectory

    /// Starts a server and writes the program to a file.
    ///
    /// - Parameters:
    ///   - page: The page.
    ///   - interpreter: What runs its program.
    /// - Throws: What the server says; `ExpectationFailedError` when the page has no program.
    init(of page: ClientPage, by interpreter: String) async throws {
        let program = try #require(page.program, "\(page.name)")
        server = try await EphemeralServer()
        files = try TemporaryDirectory()
        file = try files.write(program.code, to: program.language.fileName)
        self.page = page
        self.interpreter = interpreter
        var environment = Self.variables(server.target)
        if page.text.contains("APNS_CLIENT_CERT") {
            environment["APNS_CLIENT_CERT"] = try await Self.issueCertificate(server, into: files)
        }
        self.environment = environment
    }

    /// Runs the program with a device token.
    ///
    /// - Parameter token: Which.
    /// - Returns: The line that it printed.
    /// - Throws: `ExpectationFailedError` when it printed another number of lines.
    func output(for token: ClientPage.Token) async throws -> String {
        let text =
            switch token {
            case .registered: server.topic.token
            case .nobodys: String(repeating: "deadbeef", count: 8)
            case .gone: server.topic.goneToken
            }
        let result = try await RunningProcess.run(
            interpreter, [file], environment: environment.merging(["APNS_TOKEN": text]) { $1 })
        let lines = result.output.split(separator: "\n")
        try #require(lines.count == 1, "\(token.rawValue): \(result.output)\n\(result.errorOutput)")
        return String(lines[0])
    }

    /// The variables that the pages read.
    private static func variables(_ target: ProviderTarget) -> [String: String] {
        [
            "APNS_HOST": target.host, "APNS_PORT": "\(target.port)", "APNS_CA_FILE": target.caFile,
            "APNS_KEY_FILE": target.keyFile, "APNS_KEY_ID": target.keyID, "APNS_TEAM_ID": target.teamID,
            "APNS_TOPIC": target.topic, "PYTHONPATH": "",
        ]
    }

    /// A PEM file with a client certificate for the server's topic and its key.
    private static func issueCertificate(
        _ server: EphemeralServer, into files: TemporaryDirectory
    ) async throws -> String {
        let issued = try await server.admin.request(
            "POST", "/v1/certificates", body: #"{"topic":"\#(server.topic.topic)"}"#, as: IssuedCertificate.self)
        return try files.write(issued.certificate + issued.privateKey, to: "provider.pem")
    }

    private struct IssuedCertificate: Decodable {
        let certificate: String
        let privateKey: String

        private enum CodingKeys: String, CodingKey {
            case certificate
            case privateKey = "private_key"
        }
    }
}
