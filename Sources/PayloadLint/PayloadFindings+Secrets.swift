// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The checks for data and secrets, which a notification must not carry; it should only announce new data.
extension PayloadFindings {
    /// Checks a custom value of the app, of any type.
    mutating func checkCustom(_ unknown: PayloadReading.Unknown, in payload: Span<UInt8>) {
        let path = unknown.container == .payload ? "" : String(unknown.container.prefix.dropLast())
        let sentence = PayloadCheck.dataOrSecret.sentence
        if isSecretName(payload, unknown.name) {
            return add(.dataOrSecret, path, text: "A key has the name of a secret. \(sentence)")
        }
        switch unknown.kind {
        case .text:
            let text = unknown.value.lowerBound + 1..<unknown.value.upperBound - 1
            if isEncoded(payload, text) {
                add(.dataOrSecret, path, text: "A string looks like encoded data. \(sentence)")
            }
        case .object, .array:
            let isLarge = unknown.kind == .object && unknown.value.count > PayloadLinter.customObjectByteCountMax
            if isLarge {
                add(.dataOrSecret, path, text: "An object has \(unknown.value.count) bytes. \(sentence)")
            } else if hasSecret(payload, unknown.value) {
                add(.dataOrSecret, path, text: "A value seems to contain a secret or encoded data. \(sentence)")
            }
        case .absent, .null, .bool, .integer, .fraction:
            break
        }
    }

    /// Checks a text in a field that APNs defines.
    mutating func checkSecret(_ field: PayloadField, _ value: PayloadReading.Value, _ payload: Span<UInt8>) {
        if value.range.count >= PayloadLinter.secretByteCountMin, isEncoded(payload, value.range) {
            add(.dataOrSecret, field.path)
        }
    }

    /// Returns whether a container has the name of a secret or encoded data in it; the parser has already validated it.
    private func hasSecret(_ payload: Span<UInt8>, _ range: Range<Int>) -> Bool {
        var scanner = JSONScanner(offset: range.lowerBound)
        while scanner.offset < range.upperBound {
            guard scanner.peek(payload) == UInt8(ascii: "\"") else {
                scanner.advance()
                continue
            }
            let start = scanner.offset + 1
            guard (try? scanner.skipString(payload)) != nil else { return false }
            let text = start..<scanner.offset - 1
            scanner.skipBlanks(payload)
            let isName = scanner.peek(payload) == UInt8(ascii: ":")
            if isName ? isSecretName(payload, text) : isEncoded(payload, text) { return true }
        }
        return false
    }

    private func isSecretName(_ payload: Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard (3...8).contains(range.count) else { return false }
        return Self.secretNames[Self.smallName(payload, range)] != nil
    }

    /// Returns whether a text looks like a key or encoded data: long, and only characters of Base64.
    private func isEncoded(_ payload: Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard range.count >= PayloadLinter.secretByteCountMin else { return false }
        var isBehindBackslash = false
        for offset in range {
            let byte = payload[offset]
            // Some languages escape every slash in JSON.
            if isBehindBackslash ? byte != UInt8(ascii: "/") : !Self.isEncodedByte(byte) { return false }
            isBehindBackslash = byte == UInt8(ascii: "\\")
        }
        return true
    }

    private static func isEncodedByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "_"), UInt8(ascii: "-"),
            UInt8(ascii: "\\"):
            true
        default: byte.isLetterOrDigit
        }
    }

    private static let secretNames = PackedTable(
        ["password", "token", "secret", "otp"].map { (key: $0, value: true) })
}
