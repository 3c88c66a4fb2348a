// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// A `posthornd --ephemeral --full`: keys, certificates and device tokens of every kind, for a test to use.
final class FullServer: Sendable {
    /// The server.
    let server: EphemeralServer
    /// A directory for the files of a test.
    let files: TemporaryDirectory
    /// The lines NAME=value that it wrote.
    let variablesFile: String
    /// The same, by name.
    let variables: [String: String]

    init(options: [String] = []) async throws {
        files = try TemporaryDirectory()
        variablesFile = files.path(of: "variables")
        server = try await EphemeralServer(options: ["--full", "--env-file", variablesFile] + options)
        let lines = readText(variablesFile).split(separator: "\n").map { $0.split(separator: "=", maxSplits: 1) }
        variables = Dictionary(lines.filter { $0.count == 2 }.map { (String($0[0]), String($0[1])) }) { $1 }
    }

    /// Its admin API.
    var admin: AdminSocket { server.admin }
}
