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
    func `posthorn and the agent report a missing bus by its address, and the agent ends`(
        value: String, remedy: String
    ) async throws {
        let files = try TemporaryDirectory()
        let environment = ["POSTHORN_AGENT_BUS": value, "XDG_STATE_HOME": files.path, "XDG_CONFIG_HOME": files.path]
        for (program, words, code) in [("posthorn", ["agent", "status"], Int32(3)), ("posthorn-agent", [], 78)] {
            let result = try await RunningProcess.run(
                RepositoryPaths.program(program), words, environment: environment)
            #expect(result.exit == .code(code))
            let said = "cannot connect to the bus '\(value)' in POSTHORN_AGENT_BUS: "
            #expect(result.errorOutput.contains(said) && result.errorOutput.contains(remedy), "\(result)")
        }
    }

    @Test(arguments: [
        ["inbox", "show", "x"], ["inbox", "open", "x"], ["inbox", "list", "--limit", "0"],
        ["inbox", "list", "--before", "x"], ["inbox", "remind", "12", "yesterday"],
        ["inbox", "remind", "12", "2020-01-01 10:00"], ["settings", "set", "master", "maybe"],
        ["settings", "set", "org.example.Mail", "sund", "off"], ["settings", "set", "org.example.Mail", "sound", "of"],
        ["settings", "mute", "org.example.Mail", "2020-01-01 10:00"], ["agent", "trust", "xyz"],
    ])
    func `invalid arguments are reported without an agent`(words: [String]) async throws {
        let environment = ["POSTHORN_AGENT_BUS": "unix:path=/nowhere/bus"]
        let result = try await RunningProcess.run(RepositoryPaths.program("posthorn"), words, environment: environment)
        #expect(result.exit == .code(2), "\(result)")
    }

    @Test(arguments: [
        ["inbox", "list", "--limit", "100000"], ["inbox", "remind", "12", "1h"], ["agent", "trust"],
        ["settings", "mute", "org.example.Mail"],
    ])
    func `valid arguments without a bus report the bus`(words: [String]) async throws {
        let environment = ["DBUS_SESSION_BUS_ADDRESS": "", "XDG_RUNTIME_DIR": ""]
        let result = try await RunningProcess.run(RepositoryPaths.program("posthorn"), words, environment: environment)
        #expect(result.exit == .code(3), "\(result)")
        #expect(
            result.errorOutput == """
                posthorn: cannot connect to the session bus: no bus address is known
                  Run this command in the user's session, or set DBUS_SESSION_BUS_ADDRESS.

                """)
    }

    @Test(arguments: [([], "Usage: posthorn COMMAND"), (["channel"], "Usage: posthorn channel COMMAND")])
    func `a missing command prints the usage screen`(words: [String], usage: String) async throws {
        let result = try await RunningProcess.run(RepositoryPaths.program("posthorn"), words)
        #expect(result.exit == .code(2) && result.output.isEmpty)
        #expect(result.errorOutput.hasPrefix(usage) && result.errorOutput.contains("\nExit codes:\n"))
        let json = try await RunningProcess.run(RepositoryPaths.program("posthorn"), words + ["--json"])
        #expect(json.output.contains(#""detail":"missing command. Run 'posthorn"#), "\(json)")
    }

    @Test func `a closed pipe ends a command silently`() async throws {
        let command = "{ \(RepositoryPaths.program("posthorn")) --help; echo $? >&2; } | true"
        let result = try await RunningProcess.run(
            RepositoryPaths.tool("bash"), ["-c", "set -o pipefail; for i in 1 2 3; do \(command); done"])
        // The reader may end after the program has written, and then nothing is wrong.
        #expect(Set(result.errorOutput.split(separator: "\n")).isSubset(of: ["0", "1"]), "\(result)")
    }

    @Test func `a command that fails without --json prints only the text`() async throws {
        let result = try await RunningProcess.run(
            RepositoryPaths.program("posthorn"), ["app", "list", "--nonsense", "--", "--json"])
        #expect(result.output.isEmpty)
        #expect(result.errorOutput.hasPrefix("posthorn: "))
    }
}
