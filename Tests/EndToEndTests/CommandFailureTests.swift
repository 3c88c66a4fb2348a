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

    @Test(arguments: [
        ("sytem", "to system, session, or an address"), ("unix:path=/nowhere/bus", "correct its address"),
    ])
    func `a bus that is not there is named as it was set, by posthorn and by the agent, which ends`(
        value: String, remedy: String
    ) async throws {
        let files = try TemporaryDirectory()
        let environment = ["POSTHORN_AGENT_BUS": value, "XDG_STATE_HOME": files.path, "XDG_CONFIG_HOME": files.path]
        for (program, words, code) in [("posthorn", ["agent", "status"], Int32(3)), ("posthorn-agent", [], 78)] {
            let result = try await RunningProcess.run(
                RepositoryPaths.program(program), words, environment: environment)
            #expect(result.exit == .code(code))
            let said = "POSTHORN_AGENT_BUS is '\(value)', and there is no such bus: "
            #expect(result.errorOutput.contains(said) && result.errorOutput.contains(remedy), "\(result)")
        }
    }

    @Test func `a command that fails without --json prints nothing but the text`() async throws {
        let result = try await RunningProcess.run(
            RepositoryPaths.program("posthorn"), ["app", "list", "--nonsense", "--", "--json"])
        #expect(result.output.isEmpty)
        #expect(result.errorOutput.hasPrefix("posthorn: "))
    }
}
