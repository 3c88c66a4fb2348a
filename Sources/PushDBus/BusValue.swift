// SPDX-License-Identifier: Apache-2.0

/// A D-Bus value with its type.
///
/// File descriptors (`h`) are left out, because they have one owner: `sendForDescriptor` takes one; a message that carries one
/// otherwise is not read.
package indirect enum BusValue: Sendable {
    /// `s`
    case string(String)
    /// `o`
    case objectPath(String)
    /// `g`
    case typeSignature(String)
    /// `b`
    case bool(Bool)
    /// `y`
    case byte(UInt8)
    /// `n`
    case int16(Int16)
    /// `q`
    case uint16(UInt16)
    /// `i`
    case int32(Int32)
    /// `u`
    case uint32(UInt32)
    /// `x`
    case int64(Int64)
    /// `t`
    case uint64(UInt64)
    /// `d`
    case double(Double)
    /// `v`
    case variant(BusValue)
    /// `a…`: the element signature, because an array may be empty.
    ///
    /// A dictionary other than `a{sv}` is an array whose element signature is, say, `{ss}` and whose elements are
    /// structures of key and value.
    case array(String, [BusValue])
    /// `(…)`
    case structure([BusValue])
    /// `a{sv}`, in order. The values are written as variants, and come in without that wrapper.
    ///
    /// A value that is a `.variant` already stands for its content: it is not wrapped twice.
    case dictionary([(String, BusValue)])

    /// The type, for example `a{sv}`.
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

    /// The content of a variant, through any number of them; the value itself when it is none.
    package var withoutVariant: BusValue {
        var value = self
        while case .variant(let inner) = value { value = inner }
        return value
    }
}

extension BusValue: Equatable {
    /// Compares type and content; texts as bytes, because Swift's `==` would join what Unicode calls equivalent.
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
            // Two types.
            false
        }
    }

    /// What a dictionary's value stands for: one variant around it goes, because the type says it already.
    var dictionaryValue: BusValue {
        guard case .variant(let inner) = self else { return self }
        return inner
    }
}
