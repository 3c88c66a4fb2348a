// SPDX-License-Identifier: Apache-2.0

/// A D-Bus value with its type.
///
/// File descriptors (`h`) are not supported, because each has one owner. `sendForDescriptor` receives one; other
/// messages with descriptors cannot be read.
package indirect enum BusValue: Sendable {
    /// A UTF-8 string, signature `s`.
    case string(String)
    /// An object path, signature `o`.
    case objectPath(String)
    /// A type signature, signature `g`.
    case typeSignature(String)
    /// A boolean, signature `b`.
    case bool(Bool)
    /// An unsigned 8-bit integer, signature `y`.
    case byte(UInt8)
    /// A signed 16-bit integer, signature `n`.
    case int16(Int16)
    /// An unsigned 16-bit integer, signature `q`.
    case uint16(UInt16)
    /// A signed 32-bit integer, signature `i`.
    case int32(Int32)
    /// An unsigned 32-bit integer, signature `u`.
    case uint32(UInt32)
    /// A signed 64-bit integer, signature `x`.
    case int64(Int64)
    /// An unsigned 64-bit integer, signature `t`.
    case uint64(UInt64)
    /// A floating-point number, signature `d`.
    case double(Double)
    /// A variant with its content, signature `v`.
    case variant(BusValue)
    /// An array, signature `a…`, with the element signature, because an array may be empty.
    ///
    /// A dictionary other than `a{sv}` is an array with an element signature such as `{ss}`, whose elements are
    /// structures of key and value.
    case array(String, [BusValue])
    /// A structure of at least one field, signature `(…)`.
    case structure([BusValue])
    /// A dictionary `a{sv}`, in order.
    ///
    /// The values are written as variants, and read without that wrapper. A value that is already a `.variant` is not
    /// wrapped again.
    case dictionary([(String, BusValue)])

    /// The signature of the type, for example `a{sv}`.
    package var signature: String {
        switch self {
        case .string: "s"
        case .objectPath: "o"
        case .typeSignature: "g"
        case .bool: "b"
        case .byte: "y"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .variant: "v"
        case .array(let element, _): "a" + element
        case .structure(let fields): "(" + fields.map(\.signature).joined() + ")"
        case .dictionary: "a{sv}"
        }
    }

    /// The content of any number of nested variants, or the value itself if it is not a variant.
    package var withoutVariant: BusValue {
        var value = self
        while case .variant(let inner) = value { value = inner }
        return value
    }
}

extension BusValue: Equatable {
    /// Compares type and content; texts are compared as bytes, because Swift's `==` treats canonically equivalent texts
    /// as equal.
    package static func == (left: BusValue, right: BusValue) -> Bool {
        switch (left, right) {
        case (.string(let left), .string(let right)), (.objectPath(let left), .objectPath(let right)),
            (.typeSignature(let left), .typeSignature(let right)):
            left.utf8.elementsEqual(right.utf8)
        case (.bool(let left), .bool(let right)): left == right
        case (.byte(let left), .byte(let right)): left == right
        case (.int16(let left), .int16(let right)): left == right
        case (.uint16(let left), .uint16(let right)): left == right
        case (.int32(let left), .int32(let right)): left == right
        case (.uint32(let left), .uint32(let right)): left == right
        case (.int64(let left), .int64(let right)): left == right
        case (.uint64(let left), .uint64(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.variant(let left), .variant(let right)): left == right
        case (.array(let leftElement, let left), .array(let rightElement, let right)):
            leftElement == rightElement && left == right
        case (.structure(let left), .structure(let right)): left == right
        case (.dictionary(let left), .dictionary(let right)):
            left.elementsEqual(right) {
                $0.0.utf8.elementsEqual($1.0.utf8) && $0.1.dictionaryValue == $1.1.dictionaryValue
            }
        default:
            // The values have different types.
            false
        }
    }

    /// The value as a dictionary's member: without one enclosing variant, which the type `a{sv}` implies.
    var dictionaryValue: BusValue {
        guard case .variant(let inner) = self else { return self }
        return inner
    }
}
