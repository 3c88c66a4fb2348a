// SPDX-License-Identifier: Apache-2.0

/// Formats localized texts with the subset of Apple's format syntax that notifications use.
enum LocalizedFormat {
    /// The maximum length of an alert's text, in bytes.
    ///
    /// It exceeds the length of any text that a provider can send. It limits formats that repeat a long argument.
    static let byteCountMax = 8 * 1024

    /// The text in place of an argument that the provider omitted.
    static let missing = "…"

    /// Replaces `%@` by the arguments in order, `%1$@` by the numbered argument, and `%%` by a percent sign.
    ///
    /// A placeholder without an argument becomes an ellipsis. Any other percent sign stays unchanged.
    /// - Parameters:
    ///   - format: A text with placeholders.
    ///   - arguments: The values of the placeholders.
    /// - Returns: The text, truncated to `byteCountMax`.
    static func fill(_ format: String, with arguments: [String]) -> String {
        var output = CutText(byteCountMax: byteCountMax)
        var rest = Substring(format).unicodeScalars
        var next = 0
        while !output.isFull, let scalar = rest.popFirst() {
            guard scalar == "%", let placeholder = Placeholder(at: &rest) else {
                output.append(CollectionOfOne(scalar))
                continue
            }
            switch placeholder {
            case .percentSign:
                output.append("%".unicodeScalars)
            case .argument(let number):
                let index = number.map { $0 - 1 } ?? next
                if number == nil { next += 1 }
                let argument = arguments.indices.contains(index) ? arguments[index] : missing
                output.append(argument.unicodeScalars)
            }
        }
        return output.text
    }

    /// Returns a text truncated to `byteCountMax`.
    static func cut(_ text: String) -> String {
        guard text.utf8.count > byteCountMax else { return text }
        var output = CutText(byteCountMax: byteCountMax)
        output.append(text.unicodeScalars)
        return output.text
    }

    /// A placeholder, which a percent sign begins.
    private enum Placeholder {
        case percentSign
        /// A placeholder for an argument; the number counts from 1, and nil means the next argument.
        case argument(number: Int?)

        /// Parses a placeholder after its percent sign; returns nil and consumes nothing if another text follows.
        init?(at rest: inout Substring.UnicodeScalarView) {
            var ahead = rest
            var digits = ""
            // Two digits are enough: a payload has no space for 100 arguments.
            while digits.unicodeScalars.count < 2, let digit = ahead.first, "0"..."9" ~= digit {
                digits.unicodeScalars.append(digit)
                ahead.removeFirst()
            }
            switch (ahead.popFirst(), Int(digits)) {
            case ("%", nil): self = .percentSign
            case ("@", nil): self = .argument(number: nil)
            case ("$", let number?) where number > 0 && ahead.popFirst() == "@": self = .argument(number: number)
            default: return nil
            }
            rest = ahead
        }
    }
}
