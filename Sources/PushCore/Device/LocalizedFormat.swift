// SPDX-License-Identifier: Apache-2.0

/// The format of Apple's localized texts, as far as notifications use it.
enum LocalizedFormat {
    /// The longest text of an alert, in bytes: more than a provider can send, and less than places that repeat a long
    /// argument make of it.
    static let byteCountMax = 8 * 1024

    /// What a person reads where the provider left something out.
    static let missing = "…"

    /// Puts arguments in the places of `%@`, in order, and of `%1$@`, by number; `%%` is a percent sign.
    ///
    /// In a place without an argument stands an ellipsis; any other percent sign stays as it is.
    /// - Parameters:
    ///   - format: A text with places.
    ///   - arguments: What goes there.
    /// - Returns: The text, cut to `byteCountMax`.
    static func fill(_ format: String, with arguments: [String]) -> String {
        var output = CutText(byteCountMax: byteCountMax)
        var rest = Substring(format).unicodeScalars
        var next = 0
        while !output.isFull, let scalar = rest.popFirst() {
            guard scalar == "%", let place = Place(at: &rest) else {
                output.append(CollectionOfOne(scalar))
                continue
            }
            switch place {
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

    /// A text as it is, cut to `byteCountMax`.
    static func cut(_ text: String) -> String {
        guard text.utf8.count > byteCountMax else { return text }
        var output = CutText(byteCountMax: byteCountMax)
        output.append(text.unicodeScalars)
        return output.text
    }

    /// What a percent sign begins.
    private enum Place {
        case percentSign
        /// The number that it has, from 1; nil for the next argument.
        case argument(number: Int?)

        /// Takes what stands behind a percent sign; nil, and nothing taken, when that is no place.
        init?(at rest: inout Substring.UnicodeScalarView) {
            var ahead = rest
            var digits = ""
            // Two digits are more than a payload has room for.
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
