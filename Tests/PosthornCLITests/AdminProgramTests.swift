// SPDX-License-Identifier: Apache-2.0

@testable import CommandLineKit
@testable import PosthornCLI
internal import PushCore
internal import Testing

struct AdminProgramTests {
    /// Every command and group, as the path of names that leads to it.
    private static let paths = walk(AdminProgram.root.command, [])

    private static func walk(_ command: Command, _ path: [String]) -> [[String]] {
        [path] + command.subcommands.flatMap { walk($0, path + [$0.name]) }
    }

    private func command(at path: [String]) throws -> Command {
        try path.reduce(AdminProgram.root.command) { try #require($0.subcommand($1)) }
    }

    @Test func `the commands are the documented ones`() {
        let leaves = Self.paths.filter { path in !Self.paths.contains { $0.count > path.count && $0.starts(with: path) }
        }
        #expect(
            leaves.map { $0.joined(separator: " ") } == [
                "status", "top", "app add", "app set", "app list", "app show", "app remove", "team list", "key create",
                "key list",
                "key revoke", "token create", "token list", "token revoke", "certificate issue", "certificate list",
                "certificate revoke", "channel create",
                "channel list", "channel show", "channel remove", "quota list", "quota set", "quota clear", "enrol",
                "code list", "code revoke", "device list", "device show", "device rename", "device remove",
                "policy list", "policy set",
                "policy remove", "authority list", "authority rotate", "authority announce", "authority remove",
                "cluster init", "cluster status", "cluster drain", "cluster undrain", "cluster remove",
                "cluster move-slots", "cluster finish-upgrade", "cluster rotate-token-key",
                "cluster rotate-cluster-key", "trace",
                "backup", "migrate", "agent status", "agent enrol", "agent trust", "agent unenrol", "settings list",
                "settings show", "settings set", "settings mute", "dnd", "inbox list", "inbox search",
                "inbox show", "inbox open", "inbox read", "inbox remind", "inbox clear", "watch", "badge", "sound list",
                "sound play",
                "sound install",
                "sound remove", "register", "unregister", "subscribe",
                "unsubscribe", "send", "doctor", "lint", "completion", "help",
            ])
    }

    @Test(arguments: paths)
    func `every command has help and runs something unless it is a group`(path: [String]) throws {
        guard case .help(let text) = try AdminProgram.root.command.parse(path + ["--help"]).get() else {
            throw NothingToRun()
        }
        #expect(text.hasPrefix((["Usage: posthorn"] + path).joined(separator: " ")))
        // These commands execute posthornd.
        let isOfOtherProgram = path == ["migrate"] || path == ["cluster", "init"]
        #expect(text.contains("--json") != isOfOtherProgram && text.contains("Exit codes:"))
        // Commands that talk only to the agent do not use the server's socket. The register command talks to both.
        let asksServer =
            !isOfOtherProgram && (path.first == "register" || !text.contains("DBUS_SESSION_BUS_ADDRESS"))
        #expect(text.contains("POSTHORN_ADMIN_SOCKET") == asksServer && text.contains("--socket") == asksServer)
        let isGroup = try !command(at: path).subcommands.isEmpty
        #expect((AdminProgram.root.find(path) == nil) == isGroup)
    }

    @Test(arguments: paths)
    func `summaries and helps are sentences`(path: [String]) throws {
        let command = try command(at: path)
        let sentences = [command.summary] + command.arguments.map(\.help) + command.options.options.map(\.help)
        #expect(sentences.filter { $0.utf8.last != UInt8(ascii: ".") } == [])
    }

    @Test func `a failure in JSON gives its kind, the problem and the remedy`() {
        #expect(
            CommandError.notConfirmed.json == [
                "error": "refused", "detail": "Aborted.",
            ])
        let refusal = CommandError.agentRefused(
            name: "org.posthorn.Error.UnknownApp", message: "App 'x' is not registered.")
        #expect(refusal.json["error"] == "not_found")
        #expect(refusal.json["detail"]?.hasPrefix("app 'x' is not registered. See ") == true)
    }

    @Test func `an expired certificate is named with its date`() {
        let error = CommandError.certificateExpired(at: Timestamp(unixSeconds: 1_795_262_400))
        #expect(error.problem.contains(/^the server's certificate expired on 2026-11-2\d; renew it$/))
        #expect(error.remedy == "" && error.exitCode == .unreachable)
    }

    @Test func `every exit code is explained once`() {
        #expect(Set(ExitCode.allCases.map(\.word)).count == ExitCode.allCases.count)
        #expect(ExitCode.explanations.map(\.term) == ["0", "1", "2", "3", "4", "5", "6"])
        #expect(Set(ExitCode.allCases.map(\.meaning)).count == ExitCode.allCases.count)
    }
}
