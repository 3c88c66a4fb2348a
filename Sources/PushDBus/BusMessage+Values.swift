// SPDX-License-Identifier: Apache-2.0

internal import CSystemd

// Values are written and read one at a time with the non-variadic functions of sd-bus: `sd_bus_message_append_basic`,
// `…_read_basic`, `…_open_container`, `…_enter_container` and the like. sd-bus checks each value against the signature
// of the open container. It has validated incoming messages as a whole (lengths, UTF-8, alignment).

/// The limits for reading a message.
enum MessageLimits {
    /// The maximum nesting of containers: the specification's 32 arrays plus 32 structures.
    static let depthMax = 64
    /// The maximum number of values in a message: three times as many as the agent's longest answers have.
    ///
    /// A megabyte of bytes as `ay` would be a million values, which this module is not meant for.
    static let valueCountMax = 262_144
}

extension BusMessage {
    /// Appends the values in order.
    borrowing func append(_ values: [BusValue]) throws(BusError) {
        for value in values { try append(value, depth: 0) }
    }

    private borrowing func append(_ value: BusValue, depth: Int) throws(BusError) {
        guard depth <= MessageLimits.depthMax else { throw .invalidArguments("nested deeper than D-Bus allows") }
        switch value {
        case .string(let text): try append(text, type: "s")
        case .objectPath(let text): try append(text, type: "o")
        case .typeSignature(let text): try append(text, type: "g")
        case .bool(let value): try append(number: Int32(value ? 1 : 0), type: "b")
        case .byte(let value): try append(number: value, type: "y")
        case .int16(let value): try append(number: value, type: "n")
        case .uint16(let value): try append(number: value, type: "q")
        case .int32(let value): try append(number: value, type: "i")
        case .uint32(let value): try append(number: value, type: "u")
        case .int64(let value): try append(number: value, type: "x")
        case .uint64(let value): try append(number: value, type: "t")
        case .double(let value): try append(number: value, type: "d")
        case .variant(let inner): try append([inner], in: "v", inner.signature, depth: depth)
        case .array(let element, let elements) where element.utf8.first == UInt8(ascii: "{"):
            try appendEntries(elements, signature: element, depth: depth)
        case .array(let element, let elements): try append(elements, in: "a", element, depth: depth)
        case .structure([]):
            // sd-bus would send it, and the bus disconnects the sender.
            throw .invalidArguments("a structure has at least one field")
        case .structure(let fields):
            try append(fields, in: "r", fields.map(\.signature).joined(), depth: depth)
        case .dictionary(let pairs):
            let entries = pairs.map { BusValue.structure([.string($0.0), .variant($0.1.dictionaryValue)]) }
            try appendEntries(entries, signature: "{sv}", depth: depth)
        }
    }

    private borrowing func append(
        _ values: [BusValue], in container: Unicode.Scalar, _ contents: String, depth: Int
    ) throws(BusError) {
        try open(container, contents)
        for value in values { try append(value, depth: depth + 1) }
        try BusError.check(unsafe sd_bus_message_close_container(handle), "close a container")
    }

    /// Appends structures of key and value as the entries of a dictionary.
    private borrowing func appendEntries(_ entries: [BusValue], signature: String, depth: Int) throws(BusError) {
        try open("a", signature)
        let contents = String(signature.dropFirst().dropLast())
        for entry in entries {
            guard case .structure(let fields) = entry else {
                throw .invalidArguments("an entry of a dictionary is a structure of key and value")
            }
            try append(fields, in: "e", contents, depth: depth + 1)
        }
        try BusError.check(unsafe sd_bus_message_close_container(handle), "close a container")
    }

    private borrowing func open(_ container: Unicode.Scalar, _ contents: String) throws(BusError) {
        let code = unsafe sd_bus_message_open_container(handle, CChar(container.value), contents)
        try BusError.check(code, "open a container: its signature may be malformed")
    }

    private borrowing func append(_ text: String, type: Unicode.Scalar) throws(BusError) {
        // C would end the text at the NUL, so another text than the intended one would be shown or used.
        guard !text.utf8.contains(0) else { throw .invalidArguments("a text with a NUL cannot be sent") }
        let code = unsafe text.withCString { unsafe sd_bus_message_append_basic(handle, CChar(type.value), $0) }
        try BusError.check(code, "append a text")
    }

    private borrowing func append<Number: BitwiseCopyable>(number: Number, type: Unicode.Scalar) throws(BusError) {
        let code = unsafe withUnsafePointer(to: number) {
            unsafe sd_bus_message_append_basic(handle, CChar(type.value), $0)
        }
        try BusError.check(code, "append a number")
    }
}

extension BusMessage {
    /// Reads all values from the start of the message.
    ///
    /// - Returns: The values in order.
    /// - Throws: `limitsExceeded` if the message exceeds `MessageLimits`, `NotSupported` for file descriptors.
    borrowing func values() throws(BusError) -> [BusValue] {
        try BusError.check(unsafe sd_bus_message_rewind(handle, 1), "rewind")
        var budget = MessageLimits.valueCountMax
        return try readRemaining(depth: 0, budget: &budget)
    }

    /// Reads the rest of the open container.
    private borrowing func readRemaining(depth: Int, budget: inout Int) throws(BusError) -> [BusValue] {
        var values: [BusValue] = []
        while let (type, contents) = try peek() {
            budget -= 1
            guard budget >= 0, depth <= MessageLimits.depthMax else {
                throw BusError(name: BusError.limitsExceededName, message: "the message is too large or too deep")
            }
            values.append(try read(type, contents, depth: depth, budget: &budget))
        }
        return values
    }

    /// Returns the type of the next value, and the signature of its contents if it is a container; nil at the end.
    private borrowing func peek() throws(BusError) -> (type: Unicode.Scalar, contents: String)? {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        let code = unsafe sd_bus_message_peek_type(handle, &type, &contents)
        guard try BusError.check(code, "peek") > 0 else { return nil }
        return unsafe (Unicode.Scalar(UInt8(bitPattern: type)), contents.map { unsafe String(cString: $0) } ?? "")
    }

    private borrowing func read(
        _ type: Unicode.Scalar, _ contents: String, depth: Int, budget: inout Int
    ) throws(BusError) -> BusValue {
        switch type {
        case "s": return .string(try readText(type))
        case "o": return .objectPath(try readText(type))
        case "g": return .typeSignature(try readText(type))
        case "b": return .bool(try readNumber(Int32(0), type) != 0)
        case "y": return .byte(try readNumber(0, type))
        case "n": return .int16(try readNumber(0, type))
        case "q": return .uint16(try readNumber(0, type))
        case "i": return .int32(try readNumber(0, type))
        case "u": return .uint32(try readNumber(0, type))
        case "x": return .int64(try readNumber(0, type))
        case "t": return .uint64(try readNumber(0, type))
        case "d": return .double(try readNumber(0, type))
        case "v", "a", "r", "e": return try readContainer(type, contents, depth: depth, budget: &budget)
        default:
            throw BusError(
                name: "org.freedesktop.DBus.Error.NotSupported", message: "a value of type \(type) cannot be taken")
        }
    }

    private borrowing func readContainer(
        _ type: Unicode.Scalar, _ contents: String, depth: Int, budget: inout Int
    ) throws(BusError) -> BusValue {
        let code = unsafe sd_bus_message_enter_container(handle, CChar(type.value), contents)
        try BusError.check(code, "enter a container")
        let values = try readRemaining(depth: depth + 1, budget: &budget)
        try BusError.check(unsafe sd_bus_message_exit_container(handle), "exit a container")
        switch type {
        case "v": return .variant(values.first ?? .structure([]))
        case "a" where contents == "{sv}": return .dictionary(values.compactMap(BusMessage.pair))
        case "a": return .array(contents, values)
        default: return .structure(values)
        }
    }

    /// Returns an entry of an `a{sv}` that was read as a structure.
    private static func pair(_ entry: BusValue) -> (String, BusValue)? {
        guard case .structure(let fields) = entry, fields.count == 2, case .string(let key) = fields[0] else {
            return nil
        }
        return (key, fields[1].dictionaryValue)
    }

    private borrowing func readText(_ type: Unicode.Scalar) throws(BusError) -> String {
        var text: UnsafePointer<CChar>?
        try BusError.check(unsafe sd_bus_message_read_basic(handle, CChar(type.value), &text), "read a text")
        return unsafe text.map { unsafe String(cString: $0) } ?? ""
    }

    private borrowing func readNumber<Number: BitwiseCopyable>(
        _ zero: Number, _ type: Unicode.Scalar
    ) throws(BusError) -> Number {
        var number = zero
        try BusError.check(unsafe sd_bus_message_read_basic(handle, CChar(type.value), &number), "read a number")
        return number
    }
}
