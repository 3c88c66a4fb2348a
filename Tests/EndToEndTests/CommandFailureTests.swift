// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

struct CommandFailureTests {
    @Test(arguments: [
        (["status", "--socket", "/nonexistent/admin.sock", "--json"], "unreachable", 3),
        (["--json", "app", "nonsense"], "usage", 2), (["app", "list", "--nonsense", "--json"], "usage", 2),
    ])
    func `a command that fails with --json prints one object, beside the text`(
        words: [String], error: String, exitCode: Int
    ) async throws {
        let result = try await RunningProcess.run(RepositoryPaths.program("posthorn"), words)
        #expect(result.exit == .code(Int32(exitCode)))
        #expect(result.output.split(separator: "\n").count == 1)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: String])
        #expect(Set(object.keys) == ["error", "detail"])
        #expect(object["error"] == error)
        #expect(result.errorOutput.hasPrefix("posthorn: "))
    }

    @Test func `a command that fails without --json prints nothing but the text`() async throws {
        let result = try await RunningProcess.run(
            RepositoryPaths.program("posthorn"), ["app", "list", "--nonsense", "--", "--json"])
        #expect(result.output.isEmpty)
        #expect(result.errorOutput.hasPrefix("posthorn: "))
    }
}
