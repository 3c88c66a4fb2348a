// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushNet

/// The panel's texts in the user's language.
enum Texts {
    /// Sets the locale (`setlocale`) and loads the message catalogs.
    static func load() {
        unsafe setlocale(LC_ALL, "")
        MessageCatalog.load()
    }

    /// Returns the text in the user's language.
    static func text(_ key: String) -> String { MessageCatalog.text(key) }

    /// Returns the singular or plural text, with the count in the place of `%d`.
    static func text(_ one: String, _ many: String, count: Int) -> String {
        fill(MessageCatalog.text(one, many, count: count), "\(count)")
    }

    /// Replaces `%1`, `%2` and so on with the values; `%d` stands for the first one.
    static func fill(_ text: String, _ values: String...) -> String {
        var output = ""
        var rest = Substring(text)
        while let mark = rest.firstIndex(of: "%") {
            output += rest[..<mark]
            let after = rest[rest.index(after: mark)...]
            guard let sign = after.first, let index = sign == "d" ? 1 : sign.wholeNumberValue, index >= 1,
                index <= values.count
            else {
                output += "%"
                rest = after
                continue
            }
            output += values[index - 1]
            rest = after.dropFirst()
        }
        return output + rest
    }
}

/// Returns the text in the user's language; the name is short because it precedes every text of the panel.
func tr(_ key: String) -> String { Texts.text(key) }
