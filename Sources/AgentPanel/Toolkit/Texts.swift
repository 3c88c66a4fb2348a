// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushNet

/// What the panel says, in the person's language.
package enum Texts {
    /// Sets the locale (`setlocale`) and finds the catalogues.
    static func load() {
        unsafe setlocale(LC_ALL, "")
        MessageCatalogue.load()
    }

    /// The text in the person's language.
    package static func text(_ key: String) -> String { MessageCatalogue.text(key) }

    /// The right one of two for a count, which stands where `%d` is.
    package static func text(_ one: String, _ many: String, count: Int) -> String {
        fill(MessageCatalogue.text(one, many, count: count), "\(count)")
    }

    /// Puts texts in the place of `%1`, `%2` and so on; of `%d` the first.
    package static func fill(_ text: String, _ values: String...) -> String {
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

/// The text in the person's language; short, because it stands before every text of the panel.
func tr(_ key: String) -> String { Texts.text(key) }
