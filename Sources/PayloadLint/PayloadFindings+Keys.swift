// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The checks of keys that APNs does not define.
///
/// They find keys without effect, misspelled or misplaced keys, and custom keys that contain the data itself.
extension PayloadFindings {
    /// Checks one key that APNs does not define at its position.
    mutating func checkKey(_ unknown: PayloadReading.Unknown, in payload: Span<UInt8>) {
        let name = Self.smallName(payload, unknown.name)
        if let word = IgnoredKey.table[name] {
            checkKey(word, unknown, in: payload)
        } else if unknown.container != .payload {
            checkSpelling(unknown, in: payload)
        } else if let field = IgnoredKey.misplaced[name] {
            add(.misplacedKey, field.name, text: "\(field.name) is ignored here; write it as \(field.path).")
        } else if IgnoredKey.apsSlips[name] != nil, unknown.kind == .object {
            add(.misspelledKey, "", text: "A key beside aps looks like a misspelling of aps; only aps is read.")
        } else if let check = Self.addresses[PackedText(payload, unknown.name)], unknown.kind != .null {
            checkAddress(check, unknown, in: payload)
        }
        checkCustom(unknown, in: payload)
    }

    private mutating func checkKey(_ word: IgnoredKey, _ unknown: PayloadReading.Unknown, in payload: Span<UInt8>) {
        let path = unknown.container.prefix + word.rawValue
        switch word.check {
        case .soundWhenSilenced:
            // A value of false, null or 0 requests nothing.
            if isAsking(unknown, in: payload) { add(.soundWhenSilenced, path) }
        case .buttonCount:
            let count = unknown.kind == .array ? elementCount(of: unknown.value, in: payload) : 1
            if !(1...2).contains(count) { add(.buttonCount, path) }
        case let check:
            add(check, path)
        }
    }

    /// The keys beside `aps` that hold an address which the agent reads, or a path that it would ignore.
    private static let addresses = PackedTable<PayloadCheck>([
        (key: "url", value: .badLink), (key: "attachment-url", value: .badPicture),
        (key: "attachment-path", value: .badPicture),
    ])

    private mutating func checkAddress(
        _ check: PayloadCheck, _ unknown: PayloadReading.Unknown, in payload: Span<UInt8>
    ) {
        guard let value = try? JSONValue(parsing: payload.extracting(unknown.value)) else { return }
        let name = String(decoding: unknown.name.map { payload[$0] }, as: UTF8.self)
        if name.utf8.elementsEqual("attachment-path".utf8) {
            return add(check, name, text: "\(name) is ignored: only the filter of the app can name a file.")
        }
        do throws(NotificationLink.Defect) {
            let link = try NotificationLink(value)
            if check == .badPicture, !link.isSecureWeb { add(check, name) }
        } catch {
            add(check, name, text: "\(name) is ignored: \(error.phrase).")
        }
    }

    /// Returns the number of elements of an array; the parser has already validated it.
    private func elementCount(of range: Range<Int>, in payload: Span<UInt8>) -> Int {
        var scanner = JSONScanner(offset: range.lowerBound + 1)
        var count = 0
        while true {
            scanner.skipBlanks(payload)
            guard let byte = scanner.peek(payload), byte != UInt8(ascii: "]") else { return count }
            if byte == UInt8(ascii: ",") {
                scanner.advance()
            } else {
                guard (try? scanner.skipValue(payload)) != nil else { return count }
                count += 1
            }
        }
    }

    /// Returns whether a value is neither false, null nor 0.
    private func isAsking(_ unknown: PayloadReading.Unknown, in payload: Span<UInt8>) -> Bool {
        switch unknown.kind {
        case .null: false
        case .bool: payload[unknown.value.lowerBound] == UInt8(ascii: "t")
        case .integer: !(unknown.value.count == 1 && payload[unknown.value.lowerBound] == UInt8(ascii: "0"))
        case .absent, .fraction, .text, .array, .object: true
        }
    }

    /// Returns a name in lowercase, in a comparable form.
    static func smallName(_ payload: Span<UInt8>, _ range: Range<Int>) -> PackedText {
        PackedText(payload, range).lowerCased
    }

    /// Returns a misspelled key for display; nil if it contains other characters than letters, digits, `-` and `_`.
    private static func printable(_ name: [UInt8]) -> String? {
        let isPlain = name.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
        return isPlain ? String(decoding: name, as: UTF8.self) : nil
    }

    /// Checks whether an undefined key is a typo of one that APNs defines, or belongs into another container.
    private mutating func checkSpelling(_ unknown: PayloadReading.Unknown, in payload: Span<UInt8>) {
        if unknown.kind == .text, isAlarmWord(unknown.value, in: payload) {
            add(.soundWhenSilenced, String(unknown.container.prefix.dropLast()))
        }
        guard (3...PackedText.byteCountMax).contains(unknown.name.count), spellingCountLeft > 0 else { return }
        spellingCountLeft -= 1
        let name = unknown.name.map { payload[$0] }
        if let field = PayloadField.meant(by: name, in: unknown.container) {
            let written = Self.printable(name) ?? field.name
            add(
                .misspelledKey, unknown.container.prefix + written,
                text: "APNs does not define this key and ignores it: write \(field.name).")
        } else if unknown.container == .aps, let field = PayloadField.named(Self.pack(name), in: .alert) {
            add(.misplacedKey, "aps.\(field.name)", text: "\(field.name) is ignored here; write it as \(field.path).")
        }
    }

    private static func pack(_ name: [UInt8]) -> PackedText {
        var packed = PackedText()
        for byte in name { packed.append(byte) }
        return packed
    }

    /// Returns whether a text is a word that requests sound even when sounds are off.
    private func isAlarmWord(_ quoted: Range<Int>, in payload: Span<UInt8>) -> Bool {
        let text = payload.extracting(quoted).extracting(1..<quoted.count - 1)
        return text.isEqualIgnoringCase(to: "alarm") || text.isEqualIgnoringCase(to: "ignoresilent")
    }
}

/// A key that some providers send although it has no effect.
enum IgnoredKey: String, CaseIterable, Sendable {
    case priority, critical, force, override, wake
    case width, height, align, colour, color, background, html, font
    case vibrate, vibration, haptic
    case alarm, ignoreSilent, volume
    case badgeColor, badgeShape, badgeText
    case buttons, actions

    /// The check that reports the key.
    var check: PayloadCheck {
        switch self {
        case .priority, .critical, .force, .override, .wake: .forcedAttention
        case .width, .height, .align, .colour, .color, .background, .html, .font: .layout
        case .vibrate, .vibration, .haptic: .vibration
        case .alarm, .ignoreSilent, .volume: .soundWhenSilenced
        case .badgeColor, .badgeShape, .badgeText: .badgeLook
        case .buttons, .actions: .buttonCount
        }
    }

    /// The keys, indexed by lowercase name.
    static let table = PackedTable(allCases.map { (key: $0.rawValue.lowercased(), value: $0) })

    /// The keys that belong into `aps` and not beside it.
    static let misplaced = PackedTable(
        ([.alert, .badge, .sound] as [PayloadField]).map { (key: $0.name, value: $0) })

    /// Typos of the name `aps` itself, in lowercase.
    static let apsSlips = PackedTable(["aps", "asp", "pas"].map { (key: $0, value: true) })
}

extension PayloadField {
    /// Returns the field whose name differs by one typo; nil if every name differs more.
    static func meant(by name: [UInt8], in container: Container) -> PayloadField? {
        let plain = plainName(name)
        let fields = allCases.filter { $0.definition.container == container }
        if let field = fields.first(where: { plainName(Array($0.name.utf8)) == plain }) { return field }
        return fields.first { field in
            field.name.utf8.count > 3 && abs(field.name.utf8.count - name.count) <= 1
                && Spelling.distance(from: name, to: Array(field.name.utf8)) == 1
        }
    }

    /// Returns the name in lowercase without hyphens and underscores.
    ///
    /// `contentAvailable` and `content_available` have the same plain name.
    private static func plainName(_ name: [UInt8]) -> [UInt8] {
        name.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }.map(\.lowerCased)
    }
}
