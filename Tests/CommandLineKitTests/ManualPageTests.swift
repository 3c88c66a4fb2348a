// SPDX-License-Identifier: Apache-2.0

@testable import CommandLineKit
internal import TestSupport
internal import Testing

struct ManualPageTests {
    /// A program with a configuration file, whose texts have all characters that groff would change.
    private static let program = Command(
        "crate", "Keep things in crates.",
        discussion: ".crate holds 'anything'.\n\nIt's C:\\crate^~ in `x` and \"y\".",
        arguments: [Argument("THING", "The thing.", optional: true, repeatable: true)],
        options: [Option("root", short: "r", value: "DIR", ".hidden directories, too.", repeatable: true)],
        examples: [Explanation("crate -r . 'a b'", "...and so on.")],
        environment: [Explanation("CRATE_ROOT", "Stands for --root.")], exitCodes: [Explanation("0", "Done.")],
        manual: Manual(
            section: 8, files: [Explanation("/etc/crate.ini", "The settings.")],
            configuration: ConfigurationFile(
                "crate.ini", "Configuration of crates.", paths: ["/etc/crate.ini"], discussion: "One.\n\nTwo.",
                sections: [.init("size", [Explanation("width = N", "The width. Default: .5.")])]),
            related: ["box(1)"]))

    @Test(arguments: [
        ("a\\b", "a\\(rsb"), (".TH", "\\&.TH"), ("...", "\\&..."), ("a.b", "a.b"), ("'x'", "\\(aqx\\(aq"),
        ("--a-b", "\\-\\-a\\-b"), ("\"", "\\(dq"), ("`^~", "\\(ga\\(ha\\(ti"), ("a\nb", "a b"), ("", ""),
        ("-\u{301}", "\\-\u{301}"),
    ])
    func `a text is escaped so that groff prints it unchanged`(text: String, escaped: String) {
        #expect(RoffText.escaped(text) == escaped)
    }

    @Test func `a program has a page, and its configuration file another one`() throws {
        let pages = ManualPage.pages(of: Self.program)
        #expect(pages.map(\.fileName) == ["crate.8", "crate.ini.5"])
        #expect(ManualPage.pages(of: Command("crate", "Crates.")).isEmpty)
        #expect(pages[0].text.hasPrefix(".TH \"CRATE\" \"8\" \"\" \"Posthorn "))
        #expect(pages[0].text.contains("\n.SH \"NAME\"\ncrate \\- Keep things in crates\n"))
        #expect(pages[0].text.contains("\n.TP\n\\fB\\-r\\fR, \\fB\\-\\-root\\fR \\fIDIR\\fR\n\\&.hidden directories"))
        #expect(pages[1].text.contains("\n.SS \"Section [size]\"\n.TP\n\\fBwidth = N\\fR\nThe width. Default: .5.\n"))
        #expect(pages[1].text.contains("\n.SH \"SEE ALSO\"\ncrate(8), box(1)\n"))
    }

    @Test func `the page of a program describes each of its commands`() throws {
        let program = CommandLineSample.program
        let command = Command(
            program.name, program.summary, options: program.options, subcommands: program.subcommands,
            manual: Manual(section: 1))
        let text = try #require(ManualPage.pages(of: command).first).text
        for title in ["crate put", "crate list", "crate box", "crate box open", "crate box lid show"] {
            #expect(text.contains("\n.SS \"\(title)\"\n"), "\(title)")
        }
        #expect(text.contains("\ncrate put [OPTIONS] CRATE [THING...]\n"))
        #expect(text.contains("\nAliases: delete, rm\n"))
        #expect(text.contains("\nThe default command is \\(aqshow\\(aq.\n"))
    }

    @Test(arguments: [0, 1])
    func `man formats a page without warnings, and with all characters`(index: Int) async throws {
        let files = try TemporaryDirectory()
        let page = ManualPage.pages(of: Self.program)[index]
        let path = try files.write(page.text, to: page.fileName)
        let result = try await RunningProcess.run(
            RepositoryPaths.tool("man"),
            ["--warnings", "--encoding=UTF-8", "--no-hyphenation", "--no-justification", "--local-file", path],
            environment: ["LC_ALL": "C.UTF-8", "MANWIDTH": "80", "MANPAGER": "cat", "HOME": files.path]
        ).succeeded()
        #expect(result.errorOutput == "")
        let words = result.output.replacing(/\s+/, with: " ")
        let expected =
            index == 0
            ? [
                ".crate holds 'anything'.", "It's C:\\crate^~ in `x` and \"y\".", "crate -r . 'a b' ...and so on.",
                "-r, --root DIR .hidden directories, too. May be repeated.", "/etc/crate.ini The settings.",
            ] : ["width = N The width. Default: .5.", "crate(8), box(1)"]
        for text in expected { #expect(words.contains(text), "\(text)") }
    }

    @Test func `a hidden option prints each file of an installation`() throws {
        for name in ["crate.8", "crate.ini.5", "bash", "zsh", "fish"] {
            guard case .help(let text) = try Self.program.parse(["--generate", name]).get() else {
                Issue.record("no file \(name)")
                continue
            }
            #expect(text.contains("crate") && text.hasSuffix("\n"))
            #expect(!text.contains("generate NAME"))
        }
        let problem = Self.program.parse(["--generate", "crate.1"])
        guard case .failure(let error) = problem else {
            Issue.record("crate.1 exists")
            return
        }
        #expect(error.message.contains("choose one of bash, zsh, fish, crate.8, crate.ini.5"))
        #expect(CommandLineSample.problem(["--generate"]) == .unknownOption("--generate", closest: nil))
    }
}
