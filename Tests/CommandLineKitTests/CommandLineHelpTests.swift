// SPDX-License-Identifier: Apache-2.0

@testable import CommandLineKit
internal import PushCore
internal import Testing

struct CommandLineHelpTests {
    private func help(_ arguments: String...) throws -> String {
        guard case .help(let text) = try CommandLineSample.program.parse(arguments + ["--help"]).get() else {
            return ""
        }
        return text
    }

    @Test func `the help of a program lists its commands and its options`() throws {
        #expect(
            try help() == """
                Usage: crate COMMAND [OPTIONS]

                Keep things in crates.

                Commands:
                  put   Put things into a crate.
                  list  List crates.
                  box   Boxes.

                Options:
                  -v, --verbose   Say more.
                  -q, --quiet     Say less.
                  -r, --root DIR  Where the crates are.
                  -h, --help      Show this help and exit.
                      --version   Show the version and exit.

                Environment:
                  CRATE_ROOT  Stands for --root.

                Exit codes:
                  0  Done.

                Run 'crate COMMAND --help' for help on a command.

                """)
    }

    @Test func `the help of a command lists its arguments and options, with examples`() throws {
        let text = try help("put")
        #expect(text.hasPrefix("Usage: crate put [OPTIONS] CRATE [THING...]\n"))
        #expect(text.contains("\nA crate holds anything.\n\nIt is made when it is not there.\n"))
        #expect(text.contains("\nArguments:\n  CRATE  The crate.\n  THING  The thing to put.\n"))
        #expect(text.contains("\n  -l, --label TEXT    A label. May be repeated.\n      --colour NAME   Its colour.\n"))
        #expect(text.contains("\nExamples:\n  crate put tools hammer\n      Puts the hammer away.\n"))
        #expect(text.contains("\nOptions of every command:\n  -v, --verbose   Say more.\n"))
        #expect(text.contains("CRATE_ROOT") && text.contains("Exit codes:"))
    }

    @Test func `a command's help omits options that do not apply to it or its subcommands`() throws {
        for text in [try help("box"), try help("box", "open")] {
            #expect(text.contains("--verbose") && !text.contains("--quiet") && !text.contains("CRATE_ROOT"))
        }
        #expect(try CommandLineSample.run(["box", "open", "--quiet"]).has("quiet"))
        for shell in Completion.Shell.allCases {
            let script = Completion.script(for: CommandLineSample.program, shell: shell)
            #expect(script.contains("quiet"))
        }
    }

    @Test(arguments: [["box", "help"], ["box", "help", "open"], ["help"]])
    func `a group accepts the word help instead of the option`(words: [String]) throws {
        guard case .help(let text) = try CommandLineSample.program.parse(words).get() else {
            Issue.record("no help")
            return
        }
        #expect(text.hasPrefix(words[0] == "box" ? "Usage: crate box COMMAND" : "Usage: crate COMMAND"))
    }

    @Test func `a usage line without arguments ends with the name`() {
        let text = HelpText.render(path: [Command("crate", "Crates.", usages: ["", "on"])])
        #expect(text.hasPrefix("Usage: crate\n       crate on\n"))
    }

    @Test func `the help of a group names its default command`() throws {
        let text = try help("box", "lid")
        #expect(text.hasPrefix("Usage: crate box lid [COMMAND] [OPTIONS]\n"))
        #expect(text.contains("The default command is 'show'.\n"))
        #expect(try !help("box").contains("The default command"))
    }

    @Test func `the help of a command lists its aliases`() throws {
        #expect(try help("box", "remove").contains("\nRemove a box.\n\nAliases: delete, rm\n"))
        #expect(try help("list").contains("Aliases: ls") && !help("put").contains("Aliases"))
        #expect(Command("revoke", "Revoke.").aliases == ["remove", "delete", "rm"])
        #expect(Command("clear", "Clear.").aliases == ["remove", "delete", "rm"])
    }

    @Test func `headings divide the list of commands, in one column`() {
        let program = Command(
            "crate", "Crates.",
            subcommands: [Command("put", "Put."), Command("open", "Open."), Command("box", "Box.")],
            headings: [Command.Heading("Outside", ["open"]), Command.Heading("Inside", ["put", "box"])])
        let text = HelpText.render(path: [program])
        #expect(text.contains("\nOutside:\n  open  Open.\n\nInside:\n  put   Put.\n  box   Box.\n"))
    }

    @Test func `a heading that forgets a command stops the process`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Command(
                "crate", "Crates.", subcommands: [Command("put", "Put."), Command("open", "Open.")],
                headings: [Command.Heading("All", ["open"])])
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("the headings of crate do not list each command once"))
    }

    @Test func `a command's own usage lines replace the generated one`() throws {
        #expect(
            try help("list").hasPrefix(
                "Usage: crate list everything\n       crate list CRATE\n\nList crates.\n\nAliases: ls\n"))
    }

    @Test func `help after a command's arguments is the command's help`() throws {
        #expect(try help("put", "tools", "-v") == help("put"))
    }

    /// Returns the help text that an option requests, or nil if it requests something else.
    private func helpText(of command: Command, _ option: String) throws -> String? {
        if case .help(let text) = try command.parse([option]).get() { text } else { nil }
    }

    @Test func `a long text is wrapped at spaces before column 81`() throws {
        let words = (1...40).map { "word\($0)" }
        let command = Command(
            "long", words.joined(separator: " "),
            options: [Option("option", value: "VALUE", words.joined(separator: " "))])
        let text = try #require(try helpText(of: command, "--help"))
        let lines = text.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 80 })
        #expect(lines.contains { $0.count > 70 })
        for word in words { #expect(text.split { $0 == " " || $0 == "\n" }.count { $0 == word } == 2) }
    }

    @Test func `a word that is longer than a line is not split`() throws {
        let long = String(repeating: "x", count: 100)
        let text = try #require(try helpText(of: Command("long", "Before \(long) behind."), "-h"))
        #expect(text.contains("\nBefore\n\(long)\nbehind.\n"))
    }
}
