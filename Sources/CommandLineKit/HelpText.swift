// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Formats the text of `--help`.
enum HelpText {
    /// The maximum number of columns in a line.
    private static let columnCountMax = 80
    /// The widest term, in columns, whose meaning starts on the same line.
    private static let termColumnCountMax = 26

    /// Returns the help of the last command of a path that begins with the program.
    static func render(path: [Command]) -> String {
        guard let command = path.last else { preconditionFailure("a path names a program") }
        var sections = [usage(path: path), description(of: command)]
        sections += commands(of: command)
        sections.append(list("Arguments:", command.arguments.map { Explanation($0.placeholder, $0.help) }))
        if path.count > 1 { sections.append(list("Options:", explanations(of: command.options))) }
        sections.append(list(path.count > 1 ? "Options of every command:" : "Options:", shared(by: path)))
        sections.append(examples(command.examples))
        let environment = path.flatMap(\.environment).filter { !isUnused($0.term, by: path) }
        sections.append(list("Environment:", environment))
        sections.append(list("Exit codes:", path.flatMap(\.exitCodes)))
        if !command.subcommands.isEmpty {
            let name = path.map(\.name).joined(separator: " ")
            let alone = command.defaultSubcommand.map { ["The default command is '\($0)'."] } ?? []
            sections.append(alone + ["Run '\(name) COMMAND --help' for help on a command."])
        }
        return sections.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
    }

    /// Returns the lists of subcommands, one for each heading; all terms have the same column.
    private static func commands(of command: Command) -> [[String]] {
        let all = command.subcommands.map { Explanation($0.name, $0.summary) }
        guard !command.headings.isEmpty else { return [list("Commands:", all)] }
        return command.headings.map { heading in
            let own = heading.commands.compactMap { name in all.first { $0.term.hasSameBytes(as: name) } }
            return list("\(heading.title):", own, alignedWith: all)
        }
    }

    private static func usage(path: [Command]) -> [String] {
        usages(path: path).enumerated().map { index, line in (index == 0 ? "Usage: " : "       ") + line }
    }

    /// Returns the ways to call the last command of a path, for example `posthorn app add [OPTIONS] TOPIC`.
    static func usages(path: [Command]) -> [String] {
        let name = path.map(\.name).joined(separator: " ")
        let lines = path.last?.usages ?? []
        guard lines.isEmpty else { return lines.map { $0.isEmpty ? name : "\(name) \($0)" } }
        let words = path.last?.arguments.map(word(for:)) ?? []
        let isGroup = !(path.last?.subcommands.isEmpty ?? true)
        let command = isGroup ? [path.last?.defaultSubcommand == nil ? "COMMAND" : "[COMMAND]"] : []
        return [([name] + command + ["[OPTIONS]"] + words).joined(separator: " ")]
    }

    private static func word(for argument: Argument) -> String {
        let name = argument.isRepeatable ? "\(argument.placeholder)..." : argument.placeholder
        return argument.isOptional ? "[\(name)]" : name
    }

    private static func description(of command: Command) -> [String] {
        var lines = wrap(command.summary, indentation: 0)
        for paragraph in paragraphs(of: command.discussion) { lines += [""] + wrap(paragraph, indentation: 0) }
        let aliases = command.aliases.joined(separator: ", ")
        if !aliases.isEmpty { lines += ["", "Aliases: \(aliases)"] }
        return lines
    }

    /// Divides a text at its empty lines.
    static func paragraphs(of text: String) -> [String] {
        var paragraphs: [[Substring]] = [[]]
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty { paragraphs.append([]) } else { paragraphs[paragraphs.count - 1].append(line) }
        }
        return paragraphs.filter { !$0.isEmpty }.map { $0.joined(separator: " ") }
    }

    /// Returns the options of the parent commands, then the ones that the parser adds.
    private static func shared(by path: [Command]) -> [Explanation] {
        let above = path.count > 1 ? path.dropLast() : path[...]
        let options = above.flatMap(\.options.options).filter { !isUnused($0.name, by: path) }
        return explanations(of: OptionTable(options))
            + explanations(of: [OptionTable.help, OptionTable.version])
    }

    private static func isUnused(_ name: String, by path: [Command]) -> Bool {
        path.contains { $0.unused.contains { $0.hasSameBytes(as: name) } }
    }

    private static func explanations(of table: OptionTable) -> [Explanation] {
        table.options.map { option in
            let letter = option.short.map { "-\($0), " } ?? "    "
            let value = option.placeholder.map { " \($0)" } ?? ""
            return Explanation("\(letter)--\(option.name)\(value)", option.explanation)
        }
    }

    private static func examples(_ examples: [Explanation]) -> [String] {
        guard !examples.isEmpty else { return [] }
        return ["Examples:"] + examples.flatMap { ["  \($0.term)"] + wrap($0.meaning, indentation: 6) }
    }

    /// Formats terms and meanings in two columns; the first is as wide as the terms of `others` need.
    private static func list(
        _ title: String, _ explanations: [Explanation], alignedWith others: [Explanation]? = nil
    ) -> [String] {
        guard !explanations.isEmpty else { return [] }
        let widths = (others ?? explanations).map(\.term.count).filter { $0 <= termColumnCountMax }
        let column = 2 + (widths.max() ?? termColumnCountMax) + 2
        return [title]
            + explanations.flatMap { explanation -> [String] in
                let lines = wrap(explanation.meaning, indentation: column)
                let term = "  " + explanation.term
                guard term.count + 2 <= column, let first = lines.first else { return [term] + lines }
                return [term + first.dropFirst(term.count)] + lines.dropFirst()
            }
    }

    /// Wraps a text at spaces to `columnCountMax` columns.
    static func wrap(_ text: String, indentation: Int) -> [String] {
        let margin = String(repeating: " ", count: indentation)
        var lines: [String] = []
        var line = margin
        for word in text.split(separator: " ") {
            if line.count > indentation, line.count + 1 + word.count > columnCountMax {
                lines.append(line)
                line = margin
            }
            line += line.count > indentation ? " \(word)" : String(word)
        }
        return line.count > indentation ? lines + [line] : lines
    }
}
