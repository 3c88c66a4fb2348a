// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The checks of value types; null counts as absent, as on devices.
extension PayloadFindings {
    /// Checks the type of every value that APNs defines.
    mutating func checkKinds(of reading: PayloadReading, in payload: Span<UInt8>) {
        if reading[.aps].kind != .absent, reading[.aps].kind != .object {
            add(.apsType, "aps", text: "aps is \(reading[.aps].kind.words), but must be an object.")
        }
        var rest = reading.given
        while let field = PayloadField(rawValue: UInt8(truncatingIfNeeded: rest.trailingZeroBitCount)), rest != 0 {
            rest &= rest - 1
            checkForm(of: field, reading[field], in: payload)
        }
    }

    @inline(__always)
    private mutating func checkForm(
        of field: PayloadField, _ value: PayloadReading.Value, in payload: Span<UInt8>
    ) {
        switch field.definition.form {
        case .text:
            if value.kind != .text {
                checkText(field, value.kind)
            } else {
                checkSecret(field, value, payload)
            }
        case .textArray:
            if value.kind != .array || !isTextArray(payload, value.range) { addKind(.argumentsType, field, value.kind) }
        case .object:
            if value.kind != .object { addKind(.objectType, field, value.kind) }
        case .number:
            if value.kind != .integer && value.kind != .fraction { addKind(.numberType, field, value.kind) }
        case .flag:
            if value.kind != .integer || !isFlag(payload, value.range) { addKind(.flagValue, field, value.kind) }
        case .other:
            checkOther(field, value, in: payload)
        }
    }

    /// Adds a finding that names the actual type of the value.
    private mutating func addKind(_ check: PayloadCheck, _ field: PayloadField, _ kind: JSONKind) {
        add(check, field.path, text: "\(field.path) is \(kind.words). \(check.sentence)")
    }

    /// Checks a text field.
    ///
    /// In Live Activities, an object with a translation key may replace a text.
    private mutating func checkText(_ field: PayloadField, _ kind: JSONKind) {
        let isLocalized = kind == .object && pushType == .liveactivity && (field == .title || field == .body)
        if !isLocalized { addKind(.textType, field, kind) }
    }

    private mutating func checkOther(
        _ field: PayloadField, _ value: PayloadReading.Value, in payload: Span<UInt8>
    ) {
        switch field {
        case .alert:
            if value.kind != .text && value.kind != .object { addKind(.alertType, field, value.kind) }
        case .badge:
            checkBadge(value, in: payload)
        case .sound, .soundInAlert:
            if value.kind != .text && value.kind != .object { addKind(.soundType, field, value.kind) }
        case .interruptionLevel:
            if value.kind != .text || !isInterruptionLevel(payload, value.range) {
                add(.interruptionLevel, field.path)
            }
        case .relevanceScore:
            checkRelevanceScore(value, in: payload)
        default:
            break
        }
    }

    private mutating func checkBadge(_ value: PayloadReading.Value, in payload: Span<UInt8>) {
        if value.kind == .object { add(.badgeLook, "aps.badge") }
        guard value.kind == .integer else { return addKind(.badge, .badge, value.kind) }
        guard payload[value.range.lowerBound] != UInt8(ascii: "-") else {
            return add(.badge, "aps.badge", text: "aps.badge is negative. \(PayloadCheck.badge.sentence)")
        }
        let number = Decimal.parse(payload.extracting(value.range))
        guard number.flatMap(UInt32.init(exactly:)) == nil else { return }
        add(.badge, "aps.badge", text: "aps.badge is too large: use a whole number up to \(UInt32.max).")
    }

    private mutating func checkRelevanceScore(
        _ value: PayloadReading.Value, in payload: Span<UInt8>
    ) {
        guard value.kind == .integer || value.kind == .fraction else {
            return addKind(.relevanceScore, .relevanceScore, value.kind)
        }
        // Live Activities sort by arbitrary numbers.
        guard pushType != .liveactivity else { return }
        let number = payload.extracting(value.range).text.flatMap(Double.init)
        guard let number, (0...1).contains(number) else { return add(.relevanceScore, "aps.relevance-score") }
    }

    private func isFlag(_ payload: Span<UInt8>, _ range: Range<Int>) -> Bool {
        range.count == 1
            && (payload[range.lowerBound] == UInt8(ascii: "0") || payload[range.lowerBound] == UInt8(ascii: "1"))
    }

    private func isInterruptionLevel(_ payload: Span<UInt8>, _ range: Range<Int>) -> Bool {
        let level = payload.extracting(range)
        return Payload.InterruptionLevel.allCases.contains { level.isEqual(to: $0.rawValue) }
    }

    /// Returns whether an array contains only strings; the parser has already validated it.
    private func isTextArray(_ payload: Span<UInt8>, _ range: Range<Int>) -> Bool {
        var scanner = JSONScanner(offset: range.lowerBound + 1)
        while true {
            scanner.skipBlanks(payload)
            guard let byte = scanner.peek(payload) else { return false }
            switch byte {
            case UInt8(ascii: "]"): return true
            case UInt8(ascii: ","): scanner.advance()
            case UInt8(ascii: "\""): guard (try? scanner.skipString(payload)) != nil else { return false }
            default: return false
            }
        }
    }
}
