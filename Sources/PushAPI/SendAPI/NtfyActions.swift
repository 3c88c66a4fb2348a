// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The buttons of a message in ntfy's publish API: `view` and `http`.
///
/// - SeeAlso: ntfy's documentation, "Publishing", "Action buttons"
enum NtfyActions {
    typealias Result = (buttons: [SendMessage.Button], ignored: [String])

    /// Parses the header `X-Actions`: an array in JSON, or the short format `view, Open, https://…, clear=true; …`.
    static func parse(_ text: String) throws(SendDefect) -> Result {
        if text.utf8.first == UInt8(ascii: "[") {
            guard let value = try? JSONValue(parsing: text.utf8.span), let elements = value.array else {
                throw SendDefect("The actions are not an array in JSON.")
            }
            return read(elements)
        }
        var actions: [[JSONValue.Member]] = []
        for words in try ShortFormat.split(text) { actions.append(try members(of: words)) }
        return read(actions.map { .object($0) })
    }

    /// Reads an array of actions.
    static func read(_ elements: [JSONValue]) -> Result {
        var result: Result = ([], [])
        for element in elements {
            let kind = element["action"]?.string ?? ""
            let title = element["label"]?.string ?? ""
            guard !title.isEmpty, let url = element["url"]?.string else {
                result.ignored.append("action \(kind) without label or url")
                continue
            }
            do throws(NotificationLink.Defect) { _ = try NotificationLink(url) } catch {
                result.ignored.append("action \(title): \(error.phrase)")
                continue
            }
            switch kind {
            case "view": result.buttons.append(.init(title: title, effect: .open(url)))
            case "http":
                var request = SendMessage.Button.Request(url: url, headers: element["headers"]?.members ?? [])
                request.method = element["method"]?.string ?? "POST"
                request.body = element["body"]?.string
                result.buttons.append(.init(title: title, effect: .request(request)))
            default: result.ignored.append("action \(kind)")
            }
        }
        return result
    }

    /// Reads the words of one action: the kind, the label and the URL, and `name=value` for the rest.
    private static func members(of words: [(name: String?, value: String)]) throws(SendDefect) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        var headers: [JSONValue.Member] = []
        let places = ["action", "label", "url"]
        for (place, word) in words.enumerated() {
            guard let name = word.name ?? (place < places.count ? places[place] : nil) else {
                throw SendDefect("The action has a word without a name: '\(word.value)'.")
            }
            if name.hasPrefix("headers.") {
                headers.append(.init(key: String(name.dropFirst("headers.".count)), value: .string(word.value)))
            } else {
                members.append(.init(key: name, value: .string(word.value)))
            }
        }
        if !headers.isEmpty { members.append(.init(key: "headers", value: .object(headers))) }
        return members
    }

    /// The short format of actions: separated by semicolons, with words that are separated by commas.
    private enum ShortFormat {
        static func split(_ text: String) throws(SendDefect) -> [[(name: String?, value: String)]] {
            var actions: [[(name: String?, value: String)]] = [[]]
            var rest = text[...]
            while !rest.isEmpty {
                let (word, end) = try word(&rest)
                if word.name != nil || !word.value.isEmpty { actions[actions.count - 1].append(word) }
                if end == ";" { actions.append([]) }
            }
            return actions.filter { !$0.isEmpty }
        }

        /// Reads a word up to the next separator, which may stand in quotation marks.
        private static func word(
            _ rest: inout Substring
        ) throws(SendDefect) -> ((name: String?, value: String), Character?) {
            rest = rest.drop { $0.isWhitespace }
            var name: String?
            let sought = rest.prefix { $0.isLetter || $0.isNumber || "._-".contains($0) }
            if !sought.isEmpty, sought.endIndex < rest.endIndex, rest[sought.endIndex] == "=" {
                name = String(sought).trimmed
                rest = rest[rest.index(after: sought.endIndex)...].drop { $0.isWhitespace }
            }
            var value = ""
            if let mark = rest.first, mark == "\"" || mark == "'" {
                rest = rest.dropFirst()
                var isClosed = false
                while let character = rest.popFirst() {
                    if character == "\\", let next = rest.first, next == mark || next == "\\" {
                        value.append(next)
                        rest = rest.dropFirst()
                    } else if character == mark {
                        isClosed = true
                        break
                    } else {
                        value.append(character)
                    }
                }
                guard isClosed else { throw SendDefect("A quotation mark in the actions is not closed.") }
                rest = rest.drop { $0.isWhitespace }
                guard rest.isEmpty || rest.first == "," || rest.first == ";" else {
                    throw SendDefect("Separate the words of an action with commas, and actions with semicolons.")
                }
            } else {
                let end = rest.firstIndex { $0 == "," || $0 == ";" } ?? rest.endIndex
                value = rest[..<end].trimmed
                rest = rest[end...]
            }
            return ((name, value), rest.popFirst())
        }
    }
}
