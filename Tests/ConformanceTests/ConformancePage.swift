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

            | Case | Request, all else being right | Answer | Remark |
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
        ("D", "device tokens", "cases/device_tokens.py"), ("R", "the form of answers", "cases/responses.py"),
        ("M", "channel management", "cases/channels.py"), ("X", "broadcasts", "cases/broadcasts.py"),
        ("Q", "delivery", "cases/delivery.py"), ("E", "beyond Apple", "cases/extensions.py"),
    ]

    private static let introduction = """
        # Conformance

        <!-- Made from the cases in Tests/ConformanceTests/python by `make pages`. -->

        What APNs clients rely on, case by case. `make test` runs all of them against a real server, with a client that
        shares no code with it: [python-h2](../../Tests/ConformanceTests/python/peer.py). Whatever is asked, the form of
        each answer is checked too: [`answers.py`](../../Tests/ConformanceTests/python/answers.py).

        ```sh
        posthornd --ephemeral --full --env-file variables > server.json &
        .venv/bin/python Tests/ConformanceTests/python/run.py --env-file variables \\
            --admin-socket "$(python3 -c "import json; print(json.load(open('server.json'))['admin_socket'])")"
        ```

        A remark says where Posthorn chose among answers, or does something else than Apple on purpose: decisions
        [9](../decisions/0009-environments-certificates-channels.md) and
        [11](../decisions/0011-where-delivery-differs.md) give the reasons.

        Beside these cases, unmodified clients send in
        [ClientTests](../../Tests/ConformanceTests/ClientTests.swift), and random changes to good requests are answered in
        [PropertyTests](../../Tests/ConformanceTests/PropertyTests.swift).
        """

    private struct Row: Decodable {
        let id: String
        let request: String
        let wanted: String
        let note: String

        var line: String { "| \(id) | \(request) | \(wanted) | \(note) |" }
    }
}
