// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

extension ServerSite {
    /// The options of a server that stores in PostgreSQL.
    ///
    /// - Parameters:
    ///   - address: The address of PostgreSQL.
    ///   - more: More options.
    /// - Returns: The options.
    static func options(_ address: String, _ more: String...) -> [String] {
        ["--store-url", address, "--metrics-listen", "127.0.0.1:0", "--pending-per-topic", "100000"] + more
    }

    /// Returns the problems that `posthorn cluster status` shows, as texts by their codes.
    func problems() async throws -> [String: String] {
        let result = try await posthorn("cluster", "status", "--json")
        let status = try result.decoded(ClusterStatus.self)
        return Dictionary(status.problems.map { ($0.code, $0.text) }) { "\($0) \($1)" }
    }

    private struct ClusterStatus: Decodable {
        struct Problem: Decodable {
            let code: String
            let text: String
        }

        let problems: [Problem]
    }
}

extension PushServer {
    /// Returns the value of a metric, given with its labels; nil if the server does not report it.
    func metric(_ name: String) async throws -> Double? {
        guard let url = process.errorOutput.firstMatch(of: /metrics=(http:\S+)/) else { return nil }
        let text = try await RunningProcess.run(try RepositoryPaths.tool("curl"), ["-sS", String(url.1)]).succeeded()
        let line = text.output.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
        return line.flatMap { Double($0.dropFirst(name.count + 1)) }
    }
}
