// SPDX-License-Identifier: Apache-2.0

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
                  -h, --help      Show this help and stop.
                      --version   Show the version and stop.

                Environment:
                  CRATE_ROOT  Stands for --root.

                Exit codes:
                  0  Done.

                'crate COMMAND --help' says more about a command.

                """)
    }

    @Test func `the help of a command says what it takes, with examples`() throws {
        let text = try help("put")
        #expect(text.hasPrefix("Usage: crate put [OPTIONS] CRATE [THING...]\n"))
        #expect(text.contains("\nA crate holds anything.\n\nIt is made when it is not there.\n"))
        #expect(text.contains("\nArguments:\n  CRATE  Which crate.\n  THING  What to put.\n"))
        #expect(text.contains("\n  -l, --label TEXT    A label. May be repeated.\n      --colour NAME   Its colour.\n"))
        #expect(text.contains("\nExamples:\n  crate put tools hammer\n      Puts the hammer away.\n"))
        #expect(text.contains("\nOptions of every command:\n  -v, --verbose   Say more.\n"))
        #expect(text.contains("CRATE_ROOT") && text.contains("Exit codes:"))
    }

    @Test func `a command leaves out what means nothing to it, and so do those below it`() throws {
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
    func `a group takes the word help for the option`(words: [String]) throws {
        guard case .help(let text) = try CommandLineSample.program.parse(words).get() else {
            Issue.record("no help")
            return
        }
        #expect(text.hasPrefix(words[0] == "box" ? "Usage: crate box COMMAND" : "Usage: crate COMMAND"))
    }

    @Test func `a usage without words ends with the name`() {
        let text = HelpText.render(path: [Command("crate", "Crates.", usages: ["", "on"])])
        #expect(text.hasPrefix("Usage: crate\n       crate on\n"))
    }

    @Test func `the help of a group says which command is meant where none is named`() throws {
        let text = try help("box", "lid")
        #expect(text.hasPrefix("Usage: crate box lid [COMMAND] [OPTIONS]\n"))
        #expect(text.contains("Without a command this is 'crate box lid show'.\n"))
        #expect(try !help("box").contains("Without a command"))
    }

    @Test func `usage lines that a command gives replace the made one`() throws {
        #expect(try help("list").hasPrefix("Usage: crate list everything\n       crate list CRATE\n\nList crates.\n"))
    }

    @Test func `help asked for behind a command's words is the command's`() throws {
        #expect(try help("put", "tools", "-v") == help("put"))
    }

    @Test func `a long text is broken at blanks before column 81`() throws {
        let words = (1...40).map { "word\($0)" }
        let command = Command(
            "long", words.joined(separator: " "),
            options: [Option("option", value: "VALUE", words.joined(separator: " "))])
        guard case .help(let text) = try command.parse(["--help"]).get() else { return }
        let lines = text.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 80 })
        #expect(lines.contains { $0.count > 70 })
        for word in words { #expect(text.split { $0 == " " || $0 == "\n" }.count { $0 == word } == 2) }
    }

    @Test func `a word that is longer than a line stays whole`() throws {
        let long = String(repeating: "x", count: 100)
        guard case .help(let text) = try Command("long", "Before \(long) behind.").parse(["-h"]).get() else { return }
        #expect(text.contains("\nBefore\n\(long)\nbehind.\n"))
    }
}
