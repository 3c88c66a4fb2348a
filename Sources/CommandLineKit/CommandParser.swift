// SPDX-License-Identifier: Apache-2.0

internal import PushCore

extension Command {
    /// Parses a command line with the syntax of `getopt_long`.
    ///
    /// The parser accepts `--name value`, `--name=value`, `-n value` and `-nvalue`. `-abc` stands for three switches.
    /// Options and words may come in any order. `--` ends the options. `-` alone is a word. Subcommands accept the
    /// options of their parents, before or after their own names. Every command accepts `--help` and `--version`.
    /// `--generate NAME`, without other arguments, prints a file of the program's installation.
    ///
    /// - Parameter arguments: The words of the command line, without the program's own name.
    /// - Returns: The request, or the usage error.
    package func parse(_ arguments: [String]) -> Result<CommandRequest, UsageError> {
        var parser = CommandParser(program: self)
        do throws(UsageError) {
            if let file = try generatedFile(for: arguments) { return .success(.help(file)) }
            return .success(try parser.parse(arguments))
        } catch {
            return .failure(error)
        }
    }
}

/// Parses the words of a command line in one pass.
private struct CommandParser {
    private var path: [Command]
    private var known: OptionTable
    private var given: [(name: String, value: String)] = []
    private var arguments: [String] = []
    /// The words that are not parsed yet, in reverse order.
    private var remaining: [String] = []

    init(program: Command) {
        path = [program]
        known = program.options + [OptionTable.help, OptionTable.version]
    }

    private var command: Command { path[path.count - 1] }

    mutating func parse(_ words: [String]) throws(UsageError) -> CommandRequest {
        remaining = words.reversed()
        while let word = remaining.popLast() {
            // Bytes are compared, not characters: a combining mark after a dash forms a different character with it.
            switch (word.utf8.prefix { $0 == UInt8(ascii: "-") }.count, word.utf8.count) {
            case (2, 2): try takeAllAsWords()
            case (2..., _): try takeLong(word)
            case (1, 2...): try takeShort(word)
            case _: try takeWord(word)
            }
            // The check comes after every word, so `--help` also works on an incomplete command line.
            if let asked = informationAsked { return asked }
        }
        try checkComplete()
        return .run(Invocation(path: path.map(\.name), arguments: arguments, known: known, given: given))
    }

    private var informationAsked: CommandRequest? {
        switch given.last?.name {
        case "help": .help(HelpText.render(path: path))
        case "version": .version
        default: nil
        }
    }

    private mutating func takeAllAsWords() throws(UsageError) {
        while let word = remaining.popLast() { try takeWord(word) }
    }

    private mutating func takeLong(_ word: String) throws(UsageError) {
        let body = Substring(word.utf8.dropFirst(2))
        let equals = body.utf8.firstIndex(of: UInt8(ascii: "="))
        let name = equals.map { body[..<$0] } ?? body
        guard let option = try option({ $0.find(name) }) else {
            throw error(.unknownOption("--\(name)", closest: known.closest(to: name).map { "--\($0)" }))
        }
        try take(option, as: "--\(name)", attached: equals.map { String(body[body.utf8.index(after: $0)...]) })
    }

    private mutating func takeShort(_ word: String) throws(UsageError) {
        var letters = Substring(word.utf8.dropFirst())
        while let letter = letters.popFirst() {
            guard let option = try option({ $0.find(short: letter) }) else {
                if word.dropFirst().first?.isWholeNumber == true { throw error(.negativeNumber(word)) }
                throw error(.unknownOption("-\(letter)", closest: nil))
            }
            // For an option with a value, the rest of the word is the value.
            let value = option.placeholder == nil || letters.isEmpty ? nil : String(letters)
            try take(option, as: "-\(letter)", attached: value)
            if value != nil { return }
        }
    }

    private mutating func take(_ option: Option, as typed: String, attached: String?) throws(UsageError) {
        guard let placeholder = option.placeholder else {
            guard attached == nil else { throw error(.unexpectedValue(option: typed)) }
            return given.append((option.name, ""))
        }
        guard let value = attached ?? remaining.popLast() else {
            throw error(.missingValue(option: typed, placeholder: placeholder))
        }
        guard option.isRepeatable || !given.contains(where: { $0.name.hasSameBytes(as: option.name) }) else {
            throw error(.repeatedOption(typed))
        }
        try check(value, of: typed, against: option.values)
        given.append((option.name, value))
    }

    private mutating func takeWord(_ word: String) throws(UsageError) {
        guard command.subcommands.isEmpty else { return try enter(word) }
        guard let argument = argumentDescription(at: arguments.count) else {
            throw error(.unexpectedArgument(word))
        }
        try check(word, of: argument.placeholder, against: argument.values)
        arguments.append(word)
    }

    private func argumentDescription(at index: Int) -> Argument? {
        if command.arguments.indices.contains(index) { return command.arguments[index] }
        guard let last = command.arguments.last, last.isRepeatable else { return nil }
        return last
    }

    private mutating func enter(_ name: String) throws(UsageError) {
        guard let next = command.subcommand(name) else {
            // `help` in place of a command name works like `--help`, for example `posthorn inbox help`.
            if name.hasSameBytes(as: OptionTable.help.name) { return given.append((OptionTable.help.name, "")) }
            throw error(.unknownCommand(name, closest: suggestion(for: name)))
        }
        path.append(next)
        known = known + next.options
    }

    /// Returns the commands that an unknown command name probably stands for, in quotation marks.
    ///
    /// A name such as `list` exists only in groups. Then these are the commands of that name in the first three groups.
    private func suggestion(for name: String) -> String? {
        let ofGroups = command.subcommands.compactMap { group in
            group.subcommand(name).map { "'\(group.name) \($0.name)'" }
        }
        guard ofGroups.isEmpty else { return Self.alternatives(Array(ofGroups.prefix(3))) }
        let names = command.subcommands.flatMap { [$0.name] + $0.aliases }
        return Spelling.closest(to: name, among: names).map { "'\($0)'" }
    }

    /// Returns an option of the current command, or else of its default subcommand.
    private mutating func option(_ find: (OptionTable) -> Option?) throws(UsageError) -> Option? {
        if let option = find(known) { return option }
        try enterDefault()
        return find(known)
    }

    private mutating func enterDefault() throws(UsageError) {
        if let name = command.defaultSubcommand { try enter(name) }
    }

    private mutating func checkComplete() throws(UsageError) {
        try enterDefault()
        guard command.subcommands.isEmpty else {
            throw error(.missingCommand(help: HelpText.render(path: path)))
        }
        let needed = command.arguments.prefix { !$0.isOptional }
        guard arguments.count >= needed.count else {
            throw error(.missingArgument(placeholder: needed[arguments.count].placeholder))
        }
    }

    private func check(_ value: String, of name: String, against values: ValueKind) throws(UsageError) {
        guard case .choice(let words) = values, !words.contains(where: { $0.hasSameBytes(as: value) }) else { return }
        throw error(
            .badValue(
                of: name, value: value, expected: "choose \(Self.alternatives(words))",
                closest: Spelling.closest(to: value, among: words).map { "'\($0)'" }))
    }

    /// Returns the words as a list, for example `off, warn or strict`.
    private static func alternatives(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.joined() }
        return "\(words.dropLast().joined(separator: ", ")) or \(last)"
    }

    private func error(_ problem: UsageError.Problem) -> UsageError {
        UsageError(problem, command: path.map(\.name).joined(separator: " "))
    }
}
