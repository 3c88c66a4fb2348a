// SPDX-License-Identifier: Apache-2.0

extension Completion {
    /// Returns a script for bash 4 and later; it does not need the bash-completion package.
    ///
    /// The shell function walks over the words like the parser: it follows command names, skips options with their
    /// values, and counts the other words. Then it offers the words that the table lists for that point.
    static func bashScript(program: String, points: [CompletionPoint]) -> String {
        let function = "_" + identifier(program)
        return """
            # Completion of \(program) for bash; generated from its table of commands.

            \(function)_table() {
                case "$1" in
            \(points.flatMap(bashRows).map { "    \($0)" }.joined(separator: "\n"))
                esac
            }

            \(function)() {
                local current=${COMP_WORDS[COMP_CWORD]} place=\(quoted(program)) count=0 index=1 word offer
                COMPREPLY=()
                if [[ $current == = ]]; then current=; fi
                while (( index < COMP_CWORD )); do
                    word=${COMP_WORDS[index]}
                    if [[ $word == -* ]]; then
                        if [[ -n $(\(function)_table "$place takes $word") ]]; then
                            (( index += 1 ))
                            if [[ ${COMP_WORDS[index]} == = ]] && (( index < COMP_CWORD )); then (( index += 1 )); fi
                            if (( index >= COMP_CWORD )); then
                                offer=$(\(function)_table "$place value $word")
                                \(function)_offer "$offer" "$current"
                                return
                            fi
                        fi
                    elif [[ " $(\(function)_table "$place commands") " == *" $word "* ]]; then
                        place="$place $word"
                    else
                        (( count += 1 ))
                    fi
                    (( index += 1 ))
                done
                if [[ $current == -* ]]; then
                    offer=$(\(function)_table "$place options")
                else
                    offer=$(\(function)_table "$place word $count")
                    if (( count == 0 )); then offer="$offer $(\(function)_table "$place commands")"; fi
                fi
                \(function)_offer "$offer" "$current"
            }

            \(function)_offer() {
                local line
                case "$1" in
                    *@directory*) compopt -o filenames; while read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$2") ;;
                    *@file*) compopt -o filenames; while read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$2") ;;
                    *) while read -r line; do COMPREPLY+=("$line"); done < <(compgen -W "$1" -- "$2") ;;
                esac
            }

            complete -F \(function) \(program)

            """
    }

    private static func bashRows(of point: CompletionPoint) -> [String] {
        var rows: [String] = []
        func add(_ pattern: String, _ words: [String]) {
            if !words.isEmpty { rows.append("\(quoted(pattern))) echo \(quoted(words.joined(separator: " "))) ;;") }
        }
        add("\(point.name) commands", point.subcommands.map(\.name))
        add("\(point.name) options", point.options.map { "--\($0.name)" })
        for (index, argument) in point.arguments.enumerated() {
            let pattern = "\(point.name) word \(index)"
            add(pattern, offer(argument.values))
        }
        for option in point.options where option.placeholder != nil {
            for spelling in ["--\(option.name)"] + (option.short.map { ["-\($0)"] } ?? []) {
                add("\(point.name) takes \(spelling)", ["yes"])
                add("\(point.name) value \(spelling)", offer(option.values))
            }
        }
        return rows
    }

    /// Returns the name with every character that a shell function name cannot contain replaced by `_`.
    static func identifier(_ name: String) -> String {
        String(name.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }
}
