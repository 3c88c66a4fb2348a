// SPDX-License-Identifier: Apache-2.0

internal import PushCore

extension Completion {
    /// Returns a script for fish 3 and later.
    ///
    /// Fish evaluates the condition of each row. The condition here is that the words without options equal the row's
    /// path. The script lists the names of options with values, so that their values do not count as words.
    static func fishScript(program: String, points: [CompletionPoint]) -> String {
        let function = "__" + identifier(program) + "_at"
        let valued = points.flatMap(\.options).filter { $0.placeholder != nil }
            .flatMap { ["--\($0.name)"] + ($0.short.map { ["-\($0)"] } ?? []) }
        var unique: [String] = []
        for name in valued where !unique.contains(where: { $0.hasSameBytes(as: name) }) { unique.append(name) }
        return """
            # Completion of \(program) for fish; generated from its table of commands.

            # Succeeds if the words typed so far are the command path $argv[1] and $argv[2] more words ('any': any number).
            function \(function)
                set -l words (commandline -opc)
                set -l others
                set -l skip 0
                for word in $words
                    if test $skip = 1
                        set skip 0
                    else if contains -- $word \(unique.map(fishQuoted).joined(separator: " "))
                        set skip 1
                    else if not string match -q -- '-*' $word
                        set -a others $word
                    end
                end
                set -l path (string split ' ' -- $argv[1])
                set -l length (count $path)
                test (count $others) -ge $length; or return 1
                test "$others[1..$length]" = "$argv[1]"; or return 1
                test $argv[2] = any; or test (math (count $others) - $length) -eq $argv[2]
            end

            complete -c \(program) -f
            \(points.flatMap { fishRows(of: $0, program: program, function: function) }.joined(separator: "\n"))

            """
    }

    private static func fishRows(of point: CompletionPoint, program: String, function: String) -> [String] {
        func start(_ count: String) -> String {
            "complete -c \(program) -n \(fishQuoted("\(function) \(fishQuoted(point.name)) \(count)"))"
        }
        var rows = point.subcommands.map { "\(start("0")) -a \($0.name) -d \(fishQuoted($0.summary))" }
        for (index, argument) in point.arguments.enumerated() where !offer(argument.values).isEmpty {
            rows.append("\(start("\(index)")) \(fishOffer(argument.values))")
        }
        for option in point.options {
            let letter = option.short.map { " -s \($0)" } ?? ""
            let value = option.placeholder == nil ? "" : " -r \(fishOffer(option.values))"
            rows.append("\(start("any")) -l \(option.name)\(letter)\(value) -d \(fishQuoted(option.help))")
        }
        return rows
    }

    private static func fishOffer(_ values: ValueKind) -> String {
        switch values {
        case .text: "-f"
        case .file: "-F"
        case .directory: "-f -a '(__fish_complete_directories)'"
        case .suggestions(let words), .choice(let words): "-f -a \(fishQuoted(words.joined(separator: " ")))"
        }
    }

    /// Quotes a text with single quotes; inside them, fish treats a backslash as an escape character.
    private static func fishQuoted(_ text: String) -> String {
        var quoted = "'"
        for character in text {
            if character == "'" || character == "\\" { quoted.append("\\") }
            quoted.append(character)
        }
        return quoted + "'"
    }
}
