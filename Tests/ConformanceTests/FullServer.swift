// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// A `posthornd --ephemeral --full`, which has keys, certificates and device tokens of every kind.
final class FullServer: Sendable {
    let server: EphemeralServer
    /// A directory for the files of a test.
    let files: TemporaryDirectory
    /// The path of the file with the server's `NAME=value` lines.
    let variablesFile: String
    /// The values of the variables file, by name.
    let variables: [String: String]

    init(options: [String] = []) async throws {
        files = try TemporaryDirectory()
        variablesFile = files.path(of: "variables")
        server = try await EphemeralServer(options: ["--full", "--env-file", variablesFile] + options)
        let lines = readText(variablesFile).split(separator: "\n").map { $0.split(separator: "=", maxSplits: 1) }
        variables = Dictionary(lines.filter { $0.count == 2 }.map { (String($0[0]), String($0[1])) }) { $1 }
    }

    /// The server's admin API.
    var admin: AdminSocket { server.admin }
}
