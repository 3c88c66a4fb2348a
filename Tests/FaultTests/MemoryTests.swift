// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension Faults {
    /// Runs a server while the kernel refuses memory from a random request on.
    ///
    /// `make soak` tries each request.
    struct MemoryTests {
        private let site: ServerSite

        init() async throws { site = try await ServerSite() }

        /// Starts the server as the child of a shell, which ends with it.
        ///
        /// Without memory a program can only crash, and a crash of the test's own child would be a failure.
        ///
        /// - Parameters:
        ///   - injection: The calls that fail.
        ///   - copy: The data directory.
        /// - Returns: The server.
        /// - Throws: `SystemFailure`, `MissingProgram`.
        private func start(_ injection: Injection, on copy: String) throws -> PushServer {
            let shell = ["/bin/sh", "-c", #""$@"; exit 1"#, "sh"]
            return try site.start(
                shell + [try RepositoryPaths.tool("setpriv"), "--pdeathsig", "KILL"] + injection.wrapper(), on: copy)
        }

        @Test(.tags(.slow)) func `a server without memory ends or continues, and loses nothing accepted`() async throws
        {
            let walk = ["mmap", "brk", "mmap,brk"].flatMap { calls in
                (1...60).map { Injection(calls, "error=ENOMEM", when: "\($0)+") }
            }
            for (index, injection) in Faults.steps(walk, count: 8).enumerated() {
                let copy = try site.copyData("case-\(index)")
                let server = try start(injection, on: copy)
                var accepted: [String] = []
                if let url = try await server.urlIfStarted() {
                    for number in 0..<3 where try await site.send("text-\(number)", to: url) == 200 {
                        accepted.append("text-\(number)")
                    }
                }
                try await server.process.killNow()
                try await eventually("it is gone, and its file is whole", evidence: { injection.testDescription }) {
                    try await site.posthornd("--check", on: copy).exit == .code(0)
                }
                let waiting = try await site.waiting(on: copy)
                #expect(accepted.allSatisfy(waiting.contains), "\(injection.testDescription): \(accepted), \(waiting)")
                try FileManager.default.removeItem(atPath: copy)
            }
        }
    }
}
