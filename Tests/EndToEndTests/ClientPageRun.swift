// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// The program of a page, prepared as its reader would run it: with a server and the variables of the pages.
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
    ///   - interpreter: The path of the interpreter for the program.
    ///   - homeFiles: The files in the reader's home directory, by name.
    /// - Throws: The server's error; `ExpectationFailedError` when the page has no program.
    init(of page: ClientPage, by interpreter: String, files homeFiles: [String: String] = [:]) async throws {
        let program = try #require(page.program, "\(page.name)")
        files = try TemporaryDirectory()
        for (name, text) in homeFiles { try files.write(text, to: name) }
        let variables = files.path(of: "server.env")
        let extent = page.text.contains("APNS_CLIENT_CERT") ? ["--full"] : []
        server = try await EphemeralServer(options: extent + ["--env-file", variables])
        file = try files.write(program.code, to: program.language.fileName)
        self.page = page
        self.interpreter = interpreter
        environment = Self.variables(in: readText(variables)).merging(["HOME": files.path]) { $1 }
    }

    /// Runs the program with a device token.
    func result(for token: ClientPage.Token) async throws -> ProgramResult {
        let text =
            switch token {
            case .registered: server.topic.token
            case .nobodys: String(repeating: "deadbeef", count: 8)
            case .gone: server.topic.goneToken
            }
        return try await RunningProcess.run(
            interpreter, [file], environment: environment.merging(["APNS_TOKEN": text]) { $1 })
    }

    /// Runs the program with a device token.
    ///
    /// - Parameter token: The device token.
    /// - Returns: The line that it printed.
    /// - Throws: `ExpectationFailedError` when it printed another number of lines.
    func output(for token: ClientPage.Token) async throws -> String {
        let result = try await result(for: token)
        let lines = result.output.split(separator: "\n")
        try #require(lines.count == 1, "\(token.rawValue): \(result.output)\n\(result.errorOutput)")
        return lines[0].trimmingCharacters(in: .whitespaces)
    }

    /// Parses the variables that the server wrote for a shell, except Python's own path.
    static func variables(in text: String) -> [String: String] {
        let settings = text.matches(of: /(?m)^(\w+)='?(.*?)'?$/).map { (String($0.1), String($0.2)) }
        return Dictionary(settings) { $1 }.merging(["PYTHONPATH": ""]) { $1 }
    }
}
