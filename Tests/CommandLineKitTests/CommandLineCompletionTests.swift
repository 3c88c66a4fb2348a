// SPDX-License-Identifier: Apache-2.0

@testable import CommandLineKit
internal import TestSupport
internal import Testing

/// Runs each completion script in its shell.
struct CommandLineCompletionTests {
    /// The typed words, of which the last is unfinished, and the completions that the shell may offer.
    private static let offers: [(typed: [String], offered: Set<String>)] = [
        ([""], ["put", "list", "box"]), (["l"], ["list"]), (["box", ""], ["open", "lid", "remove"]),
        (["box", "lid", ""], ["show"]),
        (["-v", "box", "o"], ["open"]), (["--root", "x", "box", "o"], ["open"]),
        (["-r", "x", "box", ""], ["open", "lid", "remove"]),
        (["put", "tools", "--colour", ""], ["red", "green"]), (["put", "--colour", "g"], ["green"]),
        (["list", ""], ["everything"]), (["list", "x", ""], ["by-name", "by-size"]),
        (["list", "--root", "x", "y", "by-s"], ["by-size"]), (["list", "x", "by-name", ""], []),
        (["put", "--la"], ["--label"]), (["box", "--ve"], ["--verbose", "--version"]), (["put", "--label", "r"], []),
        (["nothing", ""], []),
    ]

    private func script(_ shell: Completion.Shell, in files: TemporaryDirectory) throws -> String {
        try files.write(Completion.script(for: CommandLineSample.program, shell: shell), to: "script")
    }

    @Test(arguments: offers)
    func `bash offers the expected completions`(typed: [String], offered: Set<String>) async throws {
        let files = try TemporaryDirectory()
        // compopt works only during interactive completion. It affects only how names are displayed.
        let harness = """
            source "$1"; shift; compopt() { :; }
            COMP_WORDS=(crate "$@"); COMP_CWORD=$#; _crate; printf '%s\\n' "${COMPREPLY[@]}"
            """
        let result = try await RunningProcess.run(
            RepositoryPaths.tool("bash"), ["-c", harness, "bash", script(.bash, in: files)] + typed
        ).succeeded()
        #expect(Set(result.output.split(separator: "\n").map(String.init)) == offered)
    }

    @Test(arguments: offers)
    func `fish offers the expected completions`(typed: [String], offered: Set<String>) async throws {
        let files = try TemporaryDirectory()
        let line = (["crate"] + typed).joined(separator: " ")
        let home = files.path
        let result = try await RunningProcess.run(
            RepositoryPaths.tool("fish"),
            ["--no-config", "-c", "source \(script(.fish, in: files)); complete -C '\(line)'"],
            environment: ["HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home]
        ).succeeded()
        let words = result.output.split(separator: "\n").compactMap { $0.split(separator: "\t").first.map(String.init) }
        #expect(Set(words) == offered)
    }

    @Test(arguments: Completion.Shell.allCases)
    func `a shell parses its script without errors`(shell: Completion.Shell) async throws {
        let files = try TemporaryDirectory()
        let result = try await RunningProcess.run(
            RepositoryPaths.tool(shell.rawValue), ["-n", script(shell, in: files)])
        #expect(result.exit == .code(0))
        #expect(result.errorOutput == "")
    }

    @Test func `file names are completed where a file is expected`() async throws {
        let files = try TemporaryDirectory()
        try files.write("", to: "thing.txt")
        let path = try script(.bash, in: files)
        let harness = """
            cd "$1"; source "$2"; compopt() { :; }
            COMP_WORDS=(crate put tools th); COMP_CWORD=3; _crate; printf '%s\\n' "${COMPREPLY[@]}"
            """
        let result = try await RunningProcess.run(
            RepositoryPaths.tool("bash"), ["-c", harness, "bash", files.path, path]
        ).succeeded()
        #expect(result.output == "thing.txt\n")
    }

    @Test func `quotes in a help text do not end the script's quotes`() async throws {
        let files = try TemporaryDirectory()
        let program = Command(
            "crate", "It's a crate.", options: [Option("it", "Don't \\ $(touch \(files.path(of: "bad"))) [x]: `x`.")])
        for shell in Completion.Shell.allCases {
            let path = try files.write(Completion.script(for: program, shell: shell), to: shell.rawValue)
            let prelude = shell == .zsh ? "compdef() { :; };" : ""
            let result = try await RunningProcess.run(
                RepositoryPaths.tool(shell.rawValue), ["-c", "\(prelude) source \(path)"],
                environment: ["HOME": files.path])
            #expect(result.exit == .code(0) && result.errorOutput == "", "\(shell)")
        }
        #expect(files.read("bad") == "")
    }
}
