// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Checks that curl shows an answer that arrives before its upload has finished.
struct CurlUploadTests {
    /// Uploads a payload of a given size to a server, and returns curl's result.
    private static func upload(
        _ byteCount: Int, to server: EphemeralServer, providerToken: String
    ) async throws -> ProgramResult {
        let target = server.target
        let files = try TemporaryDirectory()
        let payload = try files.write(String(repeating: "a", count: byteCount), to: "payload")
        return try await RunningProcess.run(
            try RepositoryPaths.tool("curl"),
            [
                "-sS", "--http2", "--cacert", target.caFile, "-w", " %{http_code}", "-H", "apns-push-type: alert",
                "-H", "authorization: bearer \(providerToken)", "-H", "apns-topic: \(target.topic)",
                "--data-binary", "@\(payload)", "\(target.url)/3/device/\(server.topic.token)",
            ])
    }

    @Test(arguments: [4097, 100_000, 1_000_000, 10_000_000])
    func `curl shows why an upload was refused, and reports no error`(byteCount: Int) async throws {
        let server = try await EphemeralServer()
        let providerToken = try await HTTP2Client(server.target).providerToken()
        // The order in which frames arrive is random, so the upload is repeated.
        for _ in 0..<5 {
            let result = try await Self.upload(byteCount, to: server, providerToken: providerToken)
            #expect(result.output == #"{"reason":"PayloadTooLarge"} 413"#)
            #expect(result.exit == .code(0), "\(result.errorOutput)")
        }
    }
}
