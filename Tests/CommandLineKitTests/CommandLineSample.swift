// SPDX-License-Identifier: Apache-2.0

@testable import CommandLineKit

/// A program with every kind of command and option, for the tests of command lines.
enum CommandLineSample {
    static let program = Command(
        "crate", "Keep things in crates.",
        options: [
            Option("verbose", short: "v", "Say more."), Option("quiet", short: "q", "Say less."),
            Option("root", short: "r", value: "DIR", "Where the crates are.", values: .directory),
        ],
        environment: [Explanation("CRATE_ROOT", "Stands for --root.")],
        exitCodes: [Explanation("0", "Done.")],
        subcommands: [put, list, box])

    private static let put = Command(
        "put", "Put things into a crate.",
        discussion: "A crate holds anything.\n\nIt is made when it is not there.",
        arguments: [
            Argument("CRATE", "The crate."),
            Argument("THING", "The thing to put.", optional: true, repeatable: true, values: .file),
        ],
        options: [
            Option("label", short: "l", value: "TEXT", "A label.", repeatable: true),
            Option("colour", value: "NAME", "Its colour.", values: .choice(["red", "green"])),
            Option("weight", value: "GRAMS", "Its weight."),
        ],
        examples: [Explanation("crate put tools hammer", "Puts the hammer away.")])

    private static let list = Command(
        "list", "List crates.", usages: ["everything", "CRATE"],
        arguments: [
            Argument("CRATE", "The crate.", values: .suggestions(["everything"])),
            Argument("ORDER", "by-name or by-size", optional: true, values: .choice(["by-name", "by-size"])),
        ])

    private static let box = Command(
        "box", "Boxes.", unused: ["quiet", "CRATE_ROOT"],
        subcommands: [Command("open", "Open a box."), lid, Command("remove", "Remove a box.")])

    private static let lid = Command(
        "lid", "Lids of boxes.",
        subcommands: [Command("show", "Show lids.", options: [Option("deep", short: "d", "All.")])],
        defaultSubcommand: "show")

    /// Parses arguments that must run a command, and returns its invocation.
    static func run(_ arguments: [String]) throws -> Invocation {
        guard case .run(let invocation) = try program.parse(arguments).get() else { throw NotRun() }
        return invocation
    }

    /// Returns the problem with invalid arguments, or nil.
    static func problem(_ arguments: [String]) -> UsageError.Problem? {
        guard case .failure(let error) = program.parse(arguments) else { return nil }
        return error.problem
    }

    /// Returns the help text of a command.
    static func help(_ path: [String]) -> String {
        guard case .success(.help(let text)) = program.parse(path + ["--help"]) else { return "" }
        return text
    }

    struct NotRun: Error {}
}
