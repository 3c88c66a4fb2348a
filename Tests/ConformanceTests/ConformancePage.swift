// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// Generates docs/reference/conformance.md from the descriptions of the cases.
enum ConformancePage {
    static let path = "\(RepositoryPaths.root)/docs/reference/conformance.md"

    static func render() async throws -> String {
        let list = try await RunningProcess.run(
            RepositoryPaths.python, ["\(ConformanceRun.programs)/run.py", "--list"],
            environment: ["PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": ""]
        ).succeeded()
        let cases = try list.output.split(separator: "\n").map {
            try JSONDecoder().decode(Row.self, from: Data($0.utf8))
        }
        let sections = letters.map { letter, title, file in
            """
            ## \(letter): \(title)

            [`\(file)`](../../Tests/ConformanceTests/python/\(file))

            | Case | Request (otherwise valid) | Answer | Remark |
            |---|---|---|---|
            \(cases.filter { $0.id.hasPrefix("\(letter)-") }.map(\.line).joined(separator: "\n"))
            """
        }
        return ([introduction] + sections).joined(separator: "\n\n") + "\n"
    }

    private static let letters = [
        ("T", "transport", "cases/transport.py"), ("P", "method and path", "cases/paths.py"),
        ("A", "provider tokens", "cases/provider_tokens.py"), ("C", "client certificates", "cases/certificates.py"),
        ("H", "headers", "cases/headers.py"), ("B", "payloads", "cases/bodies.py"),
        ("D", "device tokens", "cases/device_tokens.py"), ("R", "the format of answers", "cases/responses.py"),
        ("M", "channel management", "cases/channels.py"), ("X", "broadcasts", "cases/broadcasts.py"),
        ("Q", "delivery", "cases/delivery.py"), ("E", "extensions", "cases/extensions.py"),
    ]

    private static let introduction = """
        # Conformance

        <!-- Made from the cases in Tests/ConformanceTests/python by `make pages`. -->

        This page lists, case by case, the behavior on which APNs clients rely. `make test` runs all cases against a
        real server. The client, [python-h2](../../Tests/ConformanceTests/python/peer.py), shares no code with it.
        [`answers.py`](../../Tests/ConformanceTests/python/answers.py) checks the format of every answer, too.

        The server runs with `--ephemeral`, which lifts [four limits](../how-to/use-in-tests.md). An installed server answers 429 in case
        D-12 once the rate of the device token is used up.

        ```sh
        posthornd --ephemeral --full --env-file variables > server.json &
        .venv/bin/python Tests/ConformanceTests/python/run.py --env-file variables \\
            --admin-socket "$(python3 -c "import json; print(json.load(open('server.json'))['admin_socket'])")"
        ```

        A remark marks a case in which Posthorn chose between possible answers, or deliberately differs from Apple.
        Decisions [9](../decisions/0009-environments-certificates-channels.md) and
        [11](../decisions/0011-where-delivery-differs.md) give the reasons.

        In addition, [ClientTests](../../Tests/ConformanceTests/ClientTests.swift) runs unmodified clients, and
        [PropertyTests](../../Tests/ConformanceTests/PropertyTests.swift) sends valid requests with random changes.
        """

    private struct Row: Decodable {
        let id: String
        let request: String
        let wanted: String
        let note: String

        var line: String { "| \(id) | \(request) | \(wanted) | \(note) |" }
    }
}
