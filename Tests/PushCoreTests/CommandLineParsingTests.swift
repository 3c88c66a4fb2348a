// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import TestSupport
internal import Testing

struct CommandLineParsingTests {
    @Test(arguments: [
        ["put", "--label", "x", "tools"], ["put", "--label=x", "tools"], ["put", "-l", "x", "tools"],
        ["put", "-lx", "tools"], ["put", "tools", "-lx"], ["put", "-vlx", "tools"],
        ["--verbose", "put", "-lx", "tools"],
        ["put", "-lx", "--", "tools"],
    ])
    func `every way of writing an option with a value means the same`(arguments: [String]) throws {
        let invocation = try CommandLineSample.run(arguments)
        #expect(invocation.path == ["crate", "put"])
        #expect(invocation.arguments == ["tools"])
        #expect(invocation.values("label") == ["x"])
    }

    @Test(arguments: [
        (["--label="], ""), (["--label=a=b"], "a=b"), (["--label", "--"], "--"), (["--label", "-v"], "-v"),
        (["--label", ""], ""), (["-l", "-"], "-"), (["-l=x"], "=x"), (["--label=\u{301}"], "\u{301}"),
    ])
    func `a value is taken as it stands`(options: [String], value: String) throws {
        let taken = try #require(try CommandLineSample.run(["put"] + options + ["tools"]).value("label"))
        #expect(Array(taken.utf8) == Array(value.utf8))
    }

    @Test(arguments: [
        (["-v"], ["verbose"]), (["--verbose"], ["verbose"]), (["-vq"], ["verbose", "quiet"]),
        (["-v", "-v"], ["verbose"]), ([], []), (["--quiet"], ["quiet"]),
    ])
    func `switches are on exactly when they are given`(options: [String], names: [String]) throws {
        let invocation = try CommandLineSample.run(options + ["put", "tools"])
        #expect(["verbose", "quiet"].filter { invocation.has($0) } == names)
    }

    @Test(arguments: [
        ([], false), (["show"], false), (["--deep"], true), (["-vd"], true), (["show", "-d"], true), (["-v"], false),
    ])
    func `where no command is named the usual one is meant`(words: [String], isDeep: Bool) throws {
        let invocation = try CommandLineSample.run(["box", "lid"] + words)
        #expect(invocation.path == ["crate", "box", "lid", "show"] && invocation.has("deep") == isDeep)
    }

    @Test(arguments: [
        (["put", "--", "-v", "--label"], ["-v", "--label"]), (["put", "-", "a"], ["-", "a"]),
        (["put", "a", "--", "--", "b"], ["a", "--", "b"]), (["put", "a", "b", "c"], ["a", "b", "c"]),
        (["put", ""], [""]), (["--", "put", "a"], ["a"]),
    ])
    func `words keep their order and what stands behind two dashes is a word`(
        arguments: [String], words: [String]
    ) throws {
        #expect(try CommandLineSample.run(arguments).arguments == words)
    }

    @Test func `an option that may be repeated keeps all values and a word that was left out is nil`() throws {
        let invocation = try CommandLineSample.run(["put", "-l1", "tools", "--label=2"])
        #expect(invocation.values("label") == ["1", "2"])
        #expect(invocation.value("label") == "2")
        #expect(invocation.argument(0) == "tools")
        #expect(invocation.argument(1) == nil)
        #expect(invocation.command == "crate put")
    }

    @Test(arguments: [
        (["--verbos"], UsageError.Problem.unknownOption("--verbos", closest: "--verbose")),
        (["--vrebose"], .unknownOption("--vrebose", closest: "--verbose")),
        (["--ver"], .unknownOption("--ver", closest: "--verbose")),
        (["--something"], .unknownOption("--something", closest: nil)),
        (["--=x"], .unknownOption("--", closest: nil)), (["--label", "x"], .unknownOption("--label", closest: nil)),
        (["box", "lid", "-x"], .unknownOption("-x", closest: nil)), (["-x"], .unknownOption("-x", closest: nil)),
        (["-vx"], .unknownOption("-x", closest: nil)),
        (["put", "--lable=x", "a"], .unknownOption("--lable", closest: "--label")),
        (["---verbose"], .unknownOption("---verbose", closest: "--verbose")),
        (["--verbose\u{301}"], .unknownOption("--verbose\u{301}", closest: "--verbose")),
        (["-v\u{301}"], .unknownOption("-v\u{301}", closest: nil)),
        (["put", "a", "--label"], .missingValue(option: "--label", placeholder: "TEXT")),
        (["put", "a", "-l"], .missingValue(option: "-l", placeholder: "TEXT")),
        (["--verbose=yes", "put", "a"], .unexpectedValue(option: "--verbose")),
        (["--verbose=", "put", "a"], .unexpectedValue(option: "--verbose")),
        (["-ra", "--root", "b", "put", "a"], .repeatedOption("--root")),
        (["pu"], .unknownCommand("pu", closest: "'put'")), (["nothing"], .unknownCommand("nothing", closest: nil)),
        (["box", "opne"], .unknownCommand("opne", closest: "'open'")),
        ([], .missingCommand(known: ["put", "list", "box"])), (["box"], .missingCommand(known: ["open", "lid"])),
        (["put"], .missingArgument(placeholder: "CRATE")), (["put", "--"], .missingArgument(placeholder: "CRATE")),
        (["list", "a", "by-name", "c"], .unexpectedArgument("c")), (["box", "open", "x"], .unexpectedArgument("x")),
        (
            ["put", "a", "--colour", "blue"],
            .badValue(of: "--colour", value: "blue", expected: "one of red, green")
        ),
        (["list", "a", "size"], .badValue(of: "ORDER", value: "size", expected: "one of by-name, by-size")),
    ])
    func `a command line that makes no sense is refused for its reason`(
        arguments: [String], problem: UsageError.Problem
    ) {
        #expect(CommandLineSample.problem(arguments) == problem)
    }

    @Test(arguments: [
        ["--help"], ["-h"], ["put", "--help"], ["put", "-vh"], ["box", "--help"], ["put", "a", "--help", "--nonsense"],
    ])
    func `help is given on a line that is not complete`(arguments: [String]) throws {
        guard case .help = try CommandLineSample.program.parse(arguments).get() else {
            Issue.record("no help for \(arguments)")
            return
        }
    }

    @Test func `help behind two dashes is a word and help with a value is refused`() throws {
        #expect(try CommandLineSample.run(["put", "--", "--help"]).arguments == ["--help"])
        #expect(CommandLineSample.problem(["--help=put"]) == .unexpectedValue(option: "--help"))
    }

    @Test(arguments: [["--version"], ["put", "--version"]])
    func `the version is asked for anywhere`(arguments: [String]) throws {
        guard case .version = try CommandLineSample.program.parse(arguments).get() else {
            Issue.record("no version for \(arguments)")
            return
        }
    }

    @Test(arguments: ["0", "5", "+7", "10"])
    func `a whole number within bounds is taken`(text: String) throws {
        let invocation = try CommandLineSample.run(["put", "a", "--weight", text])
        #expect(try invocation.integer("weight", in: 0...10) == Int64(text))
    }

    @Test(arguments: ["", "-1", "11", "1.0", "0x5", "٣", " 1", "99999999999999999999"])
    func `a number that is out of bounds or no number is refused`(text: String) throws {
        let invocation = try CommandLineSample.run(["put", "a", "--weight", text])
        #expect(throws: UsageError.self) { try invocation.integer("weight", in: 0...10) }
    }

    @Test func `a number that was not given is nil`() throws {
        #expect(try CommandLineSample.run(["put", "a"]).integer("weight", in: 0...10) == nil)
    }

    @Test func `an error names the command whose help helps`() throws {
        guard case .failure(let error) = CommandLineSample.program.parse(["put", "--labell", "x"]) else {
            Issue.record("--labell was taken")
            return
        }
        #expect(error.message == "unknown option --labell")
        #expect(error.remedy == "Did you mean --label? 'crate put --help' shows what is possible.")
    }

    @Test(arguments: 0..<100)
    func `no arguments stop the process`(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let pieces = [
            "put", "list", "box", "open", "-", "--", "-v", "--label", "--label=", "-l", "--root", "=", "\u{301}",
        ]
        let arguments = (0..<Int.random(in: 0...8, using: &generator)).map { _ in
            (0..<Int.random(in: 1...2, using: &generator)).map { _ in
                Bool.random(using: &generator)
                    ? pieces.randomElement(using: &generator) ?? "" : generator.text(countMax: 3)
            }.joined()
        }
        switch CommandLineSample.program.parse(arguments) {
        case .failure(let error): #expect(!error.message.isEmpty && !error.remedy.isEmpty, "seed \(seed)")
        case .success(.run(let invocation)): #expect(invocation.path.count > 1, "seed \(seed)")
        case .success(.help(let text)): #expect(text.hasPrefix("Usage: crate"), "seed \(seed)")
        case .success(.version): #expect(arguments.contains { $0.hasPrefix("--version") }, "seed \(seed)")
        }
    }

    @Test func `two options of one name stop the process`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = OptionTable([Option("a", "One."), Option("a", "Two.")])
        }
        #expect(errorOutput(of: result).contains("two options are called --a"))
    }

    @Test func `two options of one letter stop the process`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = OptionTable([Option("a", short: "x", "One."), Option("b", short: "x", "Two.")])
        }
        #expect(errorOutput(of: result).contains("two options share the letter of --b"))
    }

    @Test func `asking for an option that the table lacks stops the process`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try CommandLineSample.run(["put", "a"]).value("lable")
        }
        #expect(errorOutput(of: result).contains("the option table of crate put lacks --lable"))
    }

    private func errorOutput(of result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }
}
