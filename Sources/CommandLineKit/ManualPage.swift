// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// A page of the manual, which is generated from the table of commands or from the settings of a file.
package struct ManualPage: Sendable {
    /// The name of the installed file, for example `posthornd.8`.
    package let fileName: String
    /// The page in the format of man(7).
    package let text: String

    /// Returns the page of a program and, if it has a configuration file, the page of this file.
    package static func pages(of program: Command) -> [ManualPage] {
        guard let manual = program.manual else { return [] }
        return [page(of: program, manual)] + (manual.configuration.map { [page(of: $0, for: program, manual)] } ?? [])
    }

    private static func page(of program: Command, _ manual: Manual) -> ManualPage {
        var roff = start(program.name, section: manual.section, summary: program.summary)
        roff.heading("SYNOPSIS")
        roff.literal(HelpText.usages(path: [program]))
        roff.heading("DESCRIPTION")
        roff.plain(program.summary)
        for paragraph in HelpText.paragraphs(of: program.discussion) { roff.paragraph(paragraph) }
        roff.heading("OPTIONS")
        addOptions(program.options.options + [OptionTable.help, OptionTable.version], to: &roff)
        if !program.subcommands.isEmpty {
            roff.heading("COMMANDS")
            for command in program.subcommands { add([program, command], to: &roff) }
        }
        add("EXAMPLES", program.examples, to: &roff)
        add("ENVIRONMENT", program.environment, to: &roff)
        add("FILES", manual.files, to: &roff)
        add("EXIT STATUS", program.exitCodes, to: &roff)
        addRelated(manual.related, to: &roff)
        return ManualPage(fileName: "\(program.name).\(manual.section)", text: roff.source)
    }

    private static func page(of file: ConfigurationFile, for program: Command, _ manual: Manual) -> ManualPage {
        var roff = start(file.name, section: 5, summary: file.summary)
        roff.heading("SYNOPSIS")
        roff.literal(file.paths)
        roff.heading("DESCRIPTION")
        for (index, paragraph) in HelpText.paragraphs(of: file.discussion).enumerated() {
            if index == 0 { roff.plain(paragraph) } else { roff.paragraph(paragraph) }
        }
        roff.heading("SETTINGS")
        for section in file.sections {
            roff.subheading("Section [\(section.name)]")
            for setting in section.settings { roff.item([setting.term], nil, setting.meaning) }
        }
        addRelated(["\(program.name)(\(manual.section))"] + manual.related, to: &roff)
        return ManualPage(fileName: "\(file.name).5", text: roff.source)
    }

    private static func start(_ name: String, section: Int, summary: String) -> RoffText {
        var roff = RoffText(page: name, section: section, version: "Posthorn \(ProductVersion.text)")
        roff.heading("NAME")
        roff.plain("\(name) - \(summary.hasSuffix(".") ? String(summary.dropLast()) : summary)")
        return roff
    }

    /// Adds a command with its subcommands.
    ///
    /// - Parameters:
    ///   - path: The commands from the program to this one.
    ///   - roff: The page.
    private static func add(_ path: [Command], to roff: inout RoffText) {
        guard let command = path.last else { return }
        roff.subheading(path.map(\.name).joined(separator: " "))
        if command.subcommands.isEmpty { roff.literal(HelpText.usages(path: path)) }
        roff.paragraph(command.summary)
        for paragraph in HelpText.paragraphs(of: command.discussion) { roff.paragraph(paragraph) }
        if !command.aliases.isEmpty { roff.paragraph("Aliases: \(command.aliases.joined(separator: ", "))") }
        if let name = command.defaultSubcommand { roff.paragraph("The default command is '\(name)'.") }
        for argument in command.arguments { roff.item([], argument.placeholder, argument.help) }
        addOptions(command.options.options, to: &roff)
        for example in command.examples { roff.item([example.term], nil, example.meaning) }
        for subcommand in command.subcommands { add(path + [subcommand], to: &roff) }
    }

    private static func addOptions(_ options: [Option], to roff: inout RoffText) {
        for option in options {
            let letter = option.short.map { ["-\($0)"] } ?? []
            roff.item(letter + ["--\(option.name)"], option.placeholder, option.explanation)
        }
    }

    private static func add(_ title: String, _ explanations: [Explanation], to roff: inout RoffText) {
        guard !explanations.isEmpty else { return }
        roff.heading(title)
        for explanation in explanations { roff.item([explanation.term], nil, explanation.meaning) }
    }

    private static func addRelated(_ pages: [String], to roff: inout RoffText) {
        guard !pages.isEmpty else { return }
        roff.heading("SEE ALSO")
        roff.plain(pages.joined(separator: ", "))
    }
}
