// SPDX-License-Identifier: Apache-2.0

/// The context of a byte in a payload: the open containers, the key and the string.
///
/// The initializer reads only the bytes before that byte and accepts arbitrary bytes. The bytes before a syntax error
/// are valid JSON.
struct PayloadContext {
    /// An object or an array that has not ended.
    struct Level {
        let isObject: Bool
        /// The offset of the opening bracket.
        let start: Int
        /// The kind of container for key lookup; nil if APNs defines no keys in it.
        let container: PayloadField.Container?
        /// The field of the last key; nil for a key that APNs does not define.
        fileprivate(set) var field: PayloadField?
        fileprivate var expectsName: Bool
    }

    private var levels: [Level] = []
    /// The offset of the unfinished string; nil outside strings.
    private(set) var openString: Int?
    /// The offset of the last complete string; nil before the first one.
    private(set) var lastString: Int?
    /// The last byte that is not whitespace.
    private(set) var lastByte: UInt8?

    /// The innermost open container.
    var innermost: Level? { levels.last }

    /// The path of the APNs field that contains the byte, for example `aps.alert.body`; nil outside such a field.
    var path: String? {
        for level in levels.reversed() {
            if let field = level.field { return field.path }
        }
        return nil
    }

    /// Determines the context of the byte at an offset.
    init(_ payload: Span<UInt8>, upTo offset: Int) {
        let end = min(max(offset, 0), payload.count)
        var offset = 0
        while offset < end {
            let byte = payload[offset]
            if byte == UInt8(ascii: "\"") {
                offset = takeString(payload, at: offset, end: end)
            } else {
                take(byte, at: offset)
                offset += 1
            }
        }
    }

    /// Skips a string and returns the offset after it.
    private mutating func takeString(_ payload: Span<UInt8>, at start: Int, end: Int) -> Int {
        var offset = start + 1
        var name = PackedText()
        while offset < end, payload[offset] != UInt8(ascii: "\"") {
            name.append(payload[offset])
            offset += payload[offset] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard offset < end else {
            openString = start
            return end
        }
        lastByte = UInt8(ascii: "\"")
        lastString = start
        if let level = levels.indices.last, levels[level].expectsName {
            levels[level].expectsName = false
            levels[level].field = levels[level].container.flatMap { PayloadField.named(name, in: $0) }
        }
        return offset + 1
    }

    private mutating func take(_ byte: UInt8, at offset: Int) {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
            return
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            let isObject = byte == UInt8(ascii: "{")
            let container = levels.isEmpty ? PayloadField.Container.payload : levels.last?.field?.asContainer
            levels.append(
                Level(
                    isObject: isObject, start: offset, container: isObject ? container : nil, expectsName: isObject))
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            _ = levels.popLast()
            if let level = levels.indices.last { levels[level].field = nil }
        case UInt8(ascii: ","):
            if let level = levels.indices.last, levels[level].isObject {
                levels[level].expectsName = true
                levels[level].field = nil
            }
        default:
            break
        }
        lastByte = byte
    }
}
