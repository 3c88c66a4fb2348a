// SPDX-License-Identifier: Apache-2.0

/// A JSON value as a tree, for readers outside the data path.
package enum JSONValue: Sendable, Equatable {
    /// A member of an object.
    package struct Member: Sendable, Equatable {
        /// The name, with escapes resolved.
        package var key: String
        package var value: JSONValue

        package init(key: String, value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    case null
    case bool(Bool)
    /// A number without fraction and exponent that fits into Int64.
    case integer(Int64)
    /// Any other number, in its original spelling.
    case number(String)
    case string(String)
    case array([JSONValue])
    /// The members in the order of the text; names may repeat.
    case object([Member])

    /// Returns the value of the last member with this name; nil without such a member, or if the value is not an object.
    package subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        // Names are compared as bytes: the `==` of String would find "e\u{301}" under "\u{e9}".
        return members.last { $0.key.utf8.elementsEqual(key.utf8) }?.value
    }

    /// The contents of a string; nil for any other value.
    package var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The number of an `integer`; nil for any other value, including other numbers.
    package var integer: Int64? {
        guard case .integer(let number) = self else { return nil }
        return number
    }

    /// The nearest `Double` of any number; nil for any other value and for a number out of range.
    package var double: Double? {
        switch self {
        case .integer(let number):
            return Double(number)
        case .number(let text):
            guard let number = Double(text), number.isFinite else { return nil }
            return number
        case .null, .bool, .string, .array, .object:
            return nil
        }
    }

    /// The value of a boolean; nil for any other value.
    package var bool: Bool? {
        guard case .bool(let flag) = self else { return nil }
        return flag
    }

    /// The elements of an array; nil for any other value.
    package var array: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// The members of an object; nil for any other value.
    package var members: [Member]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// Whether the value is `null`.
    package var isNull: Bool { self == .null }
}
