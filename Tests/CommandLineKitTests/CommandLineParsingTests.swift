// SPDX-License-Identifier: Apache-2.0

@testable import CommandLineKit
internal import TestSupport
internal import Testing

struct CommandLineParsingTests {
    @Test(arguments: [
        ["put", "--label", "x", "tools"], ["put", "--label=x", "tools"], ["put", "-l", "x", "tools"],
        ["put", "-lx", "tools"], ["put", "tools", "-lx"], ["put", "-vlx", "tools"],
        ["--verbose", "put", "-lx", "tools"],
        ["put", "-lx", "--", "tools"],
    ])
    func `all spellings of an option with a value are equivalent`(arguments: [String]) throws {
        let invocation = try CommandLineSample.run(arguments)
        #expect(invocation.path == ["crate", "put"])
        #expect(invocation.arguments == ["tools"])
        #expect(invocation.values("label") == ["x"])
    }

    @Test(arguments: [
        (["--label="], ""), (["--label=a=b"], "a=b"), (["--label", "--"], "--"), (["--label", "-v"], "-v"),
        (["--label", ""], ""), (["-l", "-"], "-"), (["-l=x"], "=x"), (["--label=\u{301}"], "\u{301}"),
    ])
    func `a value is not interpreted`(options: [String], value: String) throws {
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
    func `a group without a command runs its default command`(words: [String], isDeep: Bool) throws {
        let invocation = try CommandLineSample.run(["box", "lid"] + words)
        #expect(invocation.path == ["crate", "box", "lid", "show"] && invocation.has("deep") == isDeep)
    }

    @Test(arguments: [
        (["put", "--", "-v", "--label"], ["-v", "--label"]), (["put", "-", "a"], ["-", "a"]),
        (["put", "a", "--", "--", "b"], ["a", "--", "b"]), (["put", "a", "b", "c"], ["a", "b", "c"]),
        (["put", ""], [""]), (["--", "put", "a"], ["a"]),
    ])
    func `arguments keep their order, and everything after two dashes is an argument`(
        arguments: [String], words: [String]
    ) throws {
        #expect(try CommandLineSample.run(arguments).arguments == words)
    }

    @Test func `a repeatable option keeps all values, and an omitted argument is nil`() throws {
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
        (["-v5"], .unknownOption("-5", closest: nil)),
        (["-1h"], .negativeNumber("-1h")), (["put", "a", "-5"], .negativeNumber("-5")),
        (["remove"], .unknownCommand("remove", closest: "'box remove'")),
        (["rm"], .unknownCommand("rm", closest: "'box remove'")),
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
        ([], .missingCommand(help: CommandLineSample.help([]))),
        (["box"], .missingCommand(help: CommandLineSample.help(["box"]))),
        (["put"], .missingArgument(placeholder: "CRATE")), (["put", "--"], .missingArgument(placeholder: "CRATE")),
        (["list", "a", "by-name", "c"], .unexpectedArgument("c")), (["box", "open", "x"], .unexpectedArgument("x")),
        (
            ["put", "a", "--colour", "blue"],
            .badValue(of: "--colour", value: "blue", expected: "choose red or green")
        ),
        (
            ["put", "a", "--colour", "gren"],
            .badValue(of: "--colour", value: "gren", expected: "choose red or green", closest: "'green'")
        ),
        (["list", "a", "size"], .badValue(of: "ORDER", value: "size", expected: "choose by-name or by-size")),
    ])
    func `an invalid command line is refused with its reason`(
        arguments: [String], problem: UsageError.Problem
    ) {
        #expect(CommandLineSample.problem(arguments) == problem)
    }

    @Test(arguments: [
        ["--help"], ["-h"], ["put", "--help"], ["put", "-vh"], ["box", "--help"], ["put", "a", "--help", "--nonsense"],
    ])
    func `help is shown for an incomplete command line`(arguments: [String]) throws {
        guard case .help = try CommandLineSample.program.parse(arguments).get() else {
            Issue.record("no help for \(arguments)")
            return
        }
    }

    @Test func `help after two dashes is an argument, and help with a value is refused`() throws {
        #expect(try CommandLineSample.run(["put", "--", "--help"]).arguments == ["--help"])
        #expect(CommandLineSample.problem(["--help=put"]) == .unexpectedValue(option: "--help"))
    }

    @Test(arguments: [["--version"], ["put", "--version"]])
    func `the version option works anywhere`(arguments: [String]) throws {
        guard case .version = try CommandLineSample.program.parse(arguments).get() else {
            Issue.record("no version for \(arguments)")
            return
        }
    }

    @Test(arguments: ["0", "5", "+7", "10"])
    func `an integer within its range is accepted`(text: String) throws {
        let invocation = try CommandLineSample.run(["put", "a", "--weight", text])
        #expect(try invocation.integer("weight", in: 0...10) == Int64(text))
    }

    @Test(arguments: ["", "-1", "11", "1.0", "0x5", "٣", " 1", "99999999999999999999"])
    func `an integer outside its range or invalid is refused`(text: String) throws {
        let invocation = try CommandLineSample.run(["put", "a", "--weight", text])
        #expect(throws: UsageError.self) { try invocation.integer("weight", in: 0...10) }
    }

    @Test func `an omitted number is nil`() throws {
        #expect(try CommandLineSample.run(["put", "a"]).integer("weight", in: 0...10) == nil)
    }

    @Test(arguments: [
        (["put", "-1h"], "invalid value '-1h': numbers and durations cannot be", "If this is a text, write '--'"),
        (["put", "a", "--colour", "gren"], "invalid value 'gren' for --colour: choose", "Did you mean 'green'? Run"),
    ])
    func `an invalid value has a remedy`(words: [String], message: String, remedy: String) {
        guard case .failure(let error) = CommandLineSample.program.parse(words) else {
            Issue.record("\(words) were accepted")
            return
        }
        #expect(error.message.hasPrefix(message) && error.remedy.hasPrefix(remedy))
    }

    @Test func `an error names the command whose help applies`() throws {
        guard case .failure(let error) = CommandLineSample.program.parse(["put", "--labell", "x"]) else {
            Issue.record("--labell was taken")
            return
        }
        #expect(error.message == "unknown option --labell")
        #expect(error.remedy == "Did you mean --label? Run 'crate put --help' for usage.")
    }

    @Test(arguments: [
        (["list", "a", "size"], "invalid value 'size' for ORDER: choose by-name or by-size"),
        (["put"], "missing argument: CRATE"), (["put", "a", "-l"], "-l needs a value: -l TEXT"),
        (["list", "a", "by-name", "c"], "unexpected argument 'c'"), (["-vv=yes"], "unknown option -="),
    ])
    func `a message says what is wrong with which word`(arguments: [String], message: String) {
        guard case .failure(let error) = CommandLineSample.program.parse(arguments) else {
            Issue.record("\(arguments) was accepted")
            return
        }
        #expect(error.message == message)
        #expect(error.remedy.hasPrefix("Run 'crate") && error.remedy.hasSuffix("--help' for usage."))
    }

    @Test(arguments: [["box", "remove"], ["box", "delete"], ["box", "rm"]])
    func `a command is accepted under its aliases`(words: [String]) throws {
        #expect(try CommandLineSample.run(words).path == ["crate", "box", "remove"])
        #expect(try CommandLineSample.run(["ls", "everything"]).path == ["crate", "list"])
        #expect(CommandLineSample.problem(["box", "delte"]) == .unknownCommand("delte", closest: "'delete'"))
    }

    @Test(arguments: 0..<100)
    func `an empty argument vector stops the process`(seed: Int) {
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

    @Test func `two options with one name stop the process`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = OptionTable([Option("a", "One."), Option("a", "Two.")])
        }
        #expect(errorOutput(of: result).contains("two options are called --a"))
    }

    @Test func `two options with one letter stop the process`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = OptionTable([Option("a", short: "x", "One."), Option("b", short: "x", "Two.")])
        }
        #expect(errorOutput(of: result).contains("two options share the letter of --b"))
    }

    @Test func `reading an option that the command does not define stops the process`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try CommandLineSample.run(["put", "a"]).value("lable")
        }
        #expect(errorOutput(of: result).contains("the option table of crate put lacks --lable"))
    }

    private func errorOutput(of result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }
}
