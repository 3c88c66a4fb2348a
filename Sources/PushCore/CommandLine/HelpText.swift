// SPDX-License-Identifier: Apache-2.0

/// Makes the text of `--help`.
package enum HelpText {
    /// Columns that a line may have.
    private static let columnCountMax = 80
    /// Columns of a term beyond which its meaning goes to the next line.
    private static let termColumnCountMax = 26

    /// The help of the last command of a path that begins with the program.
    package static func render(path: [Command]) -> String {
        guard let command = path.last else { preconditionFailure("a path names a program") }
        var sections = [usage(path: path), description(of: command)]
        sections.append(list("Commands:", command.subcommands.map { Explanation($0.name, $0.summary) }))
        sections.append(list("Arguments:", command.arguments.map { Explanation($0.placeholder, $0.help) }))
        if path.count > 1 { sections.append(list("Options:", explanations(of: command.options))) }
        sections.append(list(path.count > 1 ? "Options of every command:" : "Options:", shared(by: path)))
        sections.append(examples(command.examples))
        let environment = path.flatMap(\.environment).filter { !isUnused($0.term, by: path) }
        sections.append(list("Environment:", environment))
        sections.append(list("Exit codes:", path.flatMap(\.exitCodes)))
        if !command.subcommands.isEmpty {
            let name = path.map(\.name).joined(separator: " ")
            let alone = command.defaultSubcommand.map { ["Without a command this is '\(name) \($0)'."] } ?? []
            sections.append(alone + ["'\(name) COMMAND --help' says more about a command."])
        }
        return sections.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
    }

    private static func usage(path: [Command]) -> [String] {
        let name = path.map(\.name).joined(separator: " ")
        let lines = path.last?.usages ?? []
        guard lines.isEmpty else {
            return lines.enumerated().map { index, words in
                (index == 0 ? "Usage: " : "       ") + (words.isEmpty ? name : "\(name) \(words)")
            }
        }
        let words = path.last?.arguments.map(word(for:)) ?? []
        let isGroup = !(path.last?.subcommands.isEmpty ?? true)
        let command = isGroup ? [path.last?.defaultSubcommand == nil ? "COMMAND" : "[COMMAND]"] : []
        return ["Usage: " + ([name] + command + ["[OPTIONS]"] + words).joined(separator: " ")]
    }

    private static func word(for argument: Argument) -> String {
        let name = argument.isRepeatable ? "\(argument.placeholder)..." : argument.placeholder
        return argument.isOptional ? "[\(name)]" : name
    }

    private static func description(of command: Command) -> [String] {
        var lines = wrap(command.summary, indentation: 0)
        for paragraph in paragraphs(of: command.discussion) { lines += [""] + wrap(paragraph, indentation: 0) }
        return lines
    }

    private static func paragraphs(of text: String) -> [String] {
        var paragraphs: [[Substring]] = [[]]
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty { paragraphs.append([]) } else { paragraphs[paragraphs.count - 1].append(line) }
        }
        return paragraphs.filter { !$0.isEmpty }.map { $0.joined(separator: " ") }
    }

    /// Options of the commands above, then those that the parser adds.
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
            let repeated = option.isRepeatable ? " May be repeated." : ""
            return Explanation("\(letter)--\(option.name)\(value)", option.help + repeated)
        }
    }

    private static func examples(_ examples: [Explanation]) -> [String] {
        guard !examples.isEmpty else { return [] }
        return ["Examples:"] + examples.flatMap { ["  \($0.term)"] + wrap($0.meaning, indentation: 6) }
    }

    private static func list(_ title: String, _ explanations: [Explanation]) -> [String] {
        guard !explanations.isEmpty else { return [] }
        let widths = explanations.map(\.term.count).filter { $0 <= termColumnCountMax }
        let column = 2 + (widths.max() ?? termColumnCountMax) + 2
        return [title]
            + explanations.flatMap { explanation -> [String] in
                let lines = wrap(explanation.meaning, indentation: column)
                let term = "  " + explanation.term
                guard term.count + 2 <= column, let first = lines.first else { return [term] + lines }
                return [term + first.dropFirst(term.count)] + lines.dropFirst()
            }
    }

    /// Breaks a text at blanks.
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
