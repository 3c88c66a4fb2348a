// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension SecurityEndToEnd {
    /// Scans the TLS of a real server from outside with testssl.sh.
    struct ScannerTests {
        /// The parts for protocols, ciphers and known vulnerabilities.
        ///
        /// The other parts scan certificates and HTTP of web sites.
        private static let parts = ["--protocols", "--std", "--vulnerable"]

        /// Findings about the scanner itself, which do not concern the server.
        private static let exceptions = [
            "engine_problem": "the system's OpenSSL has no GOST, which posthornd does not speak either"
        ]

        private struct Finding: Decodable {
            let id: String
            let severity: String
            let finding: String
        }

        @Test(.tags(.slow)) func `testssl.sh finds nothing above low in protocols, ciphers and known vulnerabilities`()
            async throws
        {
            let server = try await InstalledServer()
            let report = server.files.path(of: "report.json")
            let options = [
                "--quiet", "--color", "0", "--warnings", "off", "--add-ca", server.authorityFile, "--ip", "127.0.0.1",
                "--jsonfile", report,
            ]
            let scan = try await RunningProcess.run(
                RepositoryPaths.tool("testssl"), options + Self.parts + ["127.0.0.1:\(server.port)"],
                within: .seconds(600))
            let data = try #require(FileManager.default.contents(atPath: report), "\(scan)")
            let findings = try JSONDecoder().decode([Finding].self, from: data)
            let notable = findings.filter {
                !["OK", "INFO", "LOW"].contains($0.severity) && Self.exceptions[$0.id] == nil
            }
            #expect(notable.isEmpty, "\(notable)")
            // The test requires one finding of each part, so that an incomplete scan does not pass.
            for id in ["TLS1_3", "cipherlist_STRONG", "heartbleed", "RC4"] {
                #expect(findings.contains { $0.id == id && $0.severity == "OK" }, "\(id): \(scan.output)")
            }
            #expect(server.process.now.exit == nil, "the scan ends no server")
        }
    }
}
