// SPDX-License-Identifier: Apache-2.0

import PushHTTP
import TestSupport
import Testing

/// curl, which wants an answer to an upload that it has not finished.
struct CurlUploadTests {
    /// Uploads a payload of some size to a server; returns what curl made of it.
    private static func upload(_ byteCount: Int) async throws -> ProgramResult {
        let server = try await EphemeralServer()
        let target = server.target
        let signer = try await HTTP2Client(target)
        let files = try TemporaryDirectory()
        let payload = try files.write(String(repeating: "a", count: byteCount), to: "payload")
        return try await RunningProcess.run(
            try RepositoryPaths.tool("curl"),
            [
                "-sS", "--http2", "--cacert", target.caFile, "-w", " %{http_code}", "-H", "apns-push-type: alert",
                "-H", "authorization: bearer \(try await signer.providerToken())", "-H", "apns-topic: \(target.topic)",
                "--data-binary", "@\(payload)", "\(target.url)/3/device/\(server.topic.token)",
            ])
    }

    @Test(arguments: [4097, 100_000, 1_000_000, 10_000_000])
    func `curl shows why an upload was refused, and is content`(byteCount: Int) async throws {
        let result = try await Self.upload(byteCount)
        #expect(result.output == #"{"reason":"PayloadTooLarge"} 413"#)
        // A client that sends more than is dropped may be told to stop, which is a failure to curl.
        if byteCount <= HTTPBounds.drainedByteCountMax { #expect(result.exit == .code(0), "\(result.errorOutput)") }
    }
}
