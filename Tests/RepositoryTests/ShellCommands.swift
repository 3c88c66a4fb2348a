// SPDX-License-Identifier: Apache-2.0

/// Splits shell code into simple commands, well enough for the examples of documents.
enum ShellCommands {
    /// Returns the words of each command, without comments, redirections and assignments before the command's name.
    ///
    /// Pipes and lists are separate commands. A command substitution in quotes stays part of its word.
    static func parse(_ code: String) -> [[String]] {
        var splitter = Splitter()
        for character in code.replacing("\\\n", with: " ") { splitter.take(character) }
        splitter.endCommand()
        return splitter.commands.map(withoutDecoration).filter { !$0.isEmpty }
    }

    private static func withoutDecoration(_ words: [String]) -> [String] {
        var kept: [String] = []
        var rest = words.drop { $0.wholeMatch(of: #/[A-Za-z_]+=.*/#) != nil }
        while let word = rest.popFirst() {
            guard let redirection = word.prefixMatch(of: #/[0-9]?[<>]+&?/#) else {
                kept.append(word)
                continue
            }
            // The file name may be the next word.
            if redirection.0.count == word.count { rest = rest.dropFirst() }
        }
        return kept
    }

    private struct Splitter {
        var commands: [[String]] = []
        private var words: [String] = []
        private var word = ""
        private var isInWord = false
        private var isInComment = false
        private var quote: Character?

        mutating func take(_ character: Character) {
            if isInComment, character != "\n" { return }
            if let open = quote {
                if character == open { quote = nil } else { word.append(character) }
                return
            }
            switch character {
            // `2>&1` is a redirection.
            case "&" where word.hasSuffix(">"): word.append(character)
            case "\n", ";", "|", "&": endCommand()
            case " ", "\t": endWord()
            case "'", "\"": (quote, isInWord) = (character, true)
            case "#" where !isInWord: isInComment = true
            default:
                word.append(character)
                isInWord = true
            }
        }

        mutating func endCommand() {
            endWord()
            isInComment = false
            if !words.isEmpty { commands.append(words) }
            words = []
        }

        private mutating func endWord() {
            if isInWord { words.append(word) }
            (word, isInWord) = ("", false)
        }
    }
}
