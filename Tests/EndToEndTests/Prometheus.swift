// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// A Prometheus that scrapes one server every second.
final class Prometheus: Sendable {
    private let files: TemporaryDirectory
    private let process: RunningProcess
    private let url: String

    var transcript: String { process.transcript }

    /// Starts Prometheus with the files of deploy/monitoring, changed to another address and a shorter interval.
    init(scraping address: String) async throws {
        files = try TemporaryDirectory()
        let folder = "\(RepositoryPaths.root)/deploy/monitoring"
        let configuration = readText("\(folder)/prometheus.yml")
            .replacing("127.0.0.1:9464\"]", with: "\(address)\"]").replacing("15s", with: "1s")
        try files.write(readText("\(folder)/posthorn.rules.yml"), to: "posthorn.rules.yml")
        let path = try files.write(configuration, to: "prometheus.yml")
        process = try RunningProcess(
            try RepositoryPaths.tool("prometheus"),
            [
                "--config.file=\(path)", "--storage.tsdb.path=\(files.path(of: "data"))",
                "--web.listen-address=127.0.0.1:0", "--log.level=info",
            ])
        let process = process
        let port = try await eventualValue("Prometheus logs its port", evidence: { process.transcript }) {
            process.errorOutput.firstMatch(of: /address=127\.0\.0\.1:([1-9][0-9]*)/).map { String($0.1) }
        }
        url = "http://127.0.0.1:\(port)"
        let address = url
        try await eventually("Prometheus is ready", evidence: { process.transcript }) {
            try await RunningProcess.run(
                try RepositoryPaths.tool("curl"), ["-sSf", "-o", "/dev/null", "\(address)/-/ready"]
            ).exit == .code(0)
        }
    }

    deinit { process.send(SIGKILL) }

    func get(_ path: String, _ options: [String] = []) async throws -> String {
        try await RunningProcess.run(
            try RepositoryPaths.tool("curl"), ["-sS"] + options + ["\(url)\(path)"]
        ).succeeded().output
    }

    /// Returns the first value of a query; nil without one.
    func value(of query: String) async throws -> Double? {
        let text = try await get("/api/v1/query", ["--get", "--data-urlencode", "query=\(query)"])
        let answer = try JSONDecoder().decode(Answer.self, from: Data(text.utf8))
        return answer.data.result.first?.value.number
    }

    private struct Answer: Decodable {
        let data: Result

        struct Result: Decodable {
            let result: [Series]
        }

        struct Series: Decodable {
            let value: Value
        }

        /// A pair of a time and a value, which is a text.
        struct Value: Decodable {
            let number: Double?

            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                _ = try container.decode(Double.self)
                number = Double(try container.decode(String.self))
            }
        }
    }
}
