// SPDX-License-Identifier: Apache-2.0

extension Completion {
    /// Returns a script for zsh 5.
    ///
    /// Users save it as `_program` in a directory of `fpath`, or source it after `compinit`.
    static func zshScript(program: String, points: [CompletionPoint]) -> String {
        let function = "_" + identifier(program)
        return """
            #compdef \(program)
            # Completion of \(program) for zsh; generated from its table of commands.

            \(points.map { zshFunction(of: $0) }.joined(separator: "\n\n"))

            if [ "$funcstack[1]" = "\(function)" ]; then
                \(function) "$@"
            else
                compdef \(function) \(program)
            fi

            """
    }

    private static func zshFunction(of point: CompletionPoint) -> String {
        let name = zshName(of: point.path)
        let options = point.options.flatMap(zshSpecifications)
        let words = point.arguments.map { argument in
            let position = argument.isRepeatable ? "*" : argument.isOptional ? ":" : ""
            return quoted("\(position):\(zshEscaped(argument.placeholder)):\(zshAction(argument.values))")
        }
        guard point.subcommands.isEmpty else { return zshGroup(of: point, name: name, options: options) }
        return "\(name)() {\n    _arguments -s \\\n"
            + (options + words).map { "        \($0)" }.joined(separator: " \\\n") + "\n}"
    }

    private static func zshGroup(of point: CompletionPoint, name: String, options: [String]) -> String {
        let commands = point.subcommands.map { quoted("\($0.name):\($0.summary)") }
        let cases = point.subcommands.map { "            \($0.name)) \(zshName(of: point.path + [$0.name])) ;;" }
        return """
            \(name)() {
                local curcontext="$curcontext" context state state_descr line
                typeset -A opt_args
                local -a commands=(
            \(commands.map { "        \($0)" }.joined(separator: "\n"))
                )
                _arguments -C -s \\
            \(options.map { "        \($0)" }.joined(separator: " \\\n")) \\
                    '1:command:->command' '*::word:->words'
                case $state in
                command) _describe command commands ;;
                words)
                    case $line[1] in
            \(cases.joined(separator: "\n"))
                    esac ;;
                esac
            }
            """
    }

    private static func zshName(of path: [String]) -> String {
        "_" + path.map(identifier).joined(separator: "_")
    }

    /// Returns the `_arguments` specifications of an option, for example `'*'{-t,--topic}'[Help]:TOPIC:'`.
    ///
    /// Unless the option is repeatable, each spelling excludes the other one.
    private static func zshSpecifications(of option: Option) -> [String] {
        let spellings = (option.short.map { ["-\($0)"] } ?? []) + ["--\(option.name)"]
        let value = option.placeholder.map { ":\(zshEscaped($0)):\(zshAction(option.values))" } ?? ""
        return spellings.map { spelling in
            let others = option.isRepeatable ? "*" : "(\(spellings.joined(separator: " ")))"
            let equals = option.placeholder != nil && spelling.hasPrefix("--") ? "=" : ""
            return quoted("\(others)\(spelling)\(equals)[\(zshEscaped(option.help))]\(value)")
        }
    }

    private static func zshAction(_ values: ValueKind) -> String {
        switch values {
        case .text: ""
        case .file: "_files"
        case .directory: "_directories"
        case .suggestions(let words), .choice(let words): "(\(words.joined(separator: " ")))"
        }
    }

    /// Escapes colons, brackets and backslashes, which are syntax of `_arguments`.
    private static func zshEscaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            if character == ":" || character == "[" || character == "]" || character == "\\" { escaped.append("\\") }
            escaped.append(character)
        }
        return escaped
    }
}
