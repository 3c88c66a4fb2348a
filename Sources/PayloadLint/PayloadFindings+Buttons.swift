// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The checks of an alert's buttons.
extension PayloadFindings {
    /// Checks the button that a payload may name: `action-loc-key`, or `action` of Safari's notifications.
    mutating func checkAction(_ reading: PayloadReading, _ payload: Span<UInt8>) {
        if reading[.actionKey].kind == .null { add(.singleButton, "aps.alert.action-loc-key") }
        for field in [PayloadField.actionKey, .action] where reading[field].kind == .text {
            let range = reading[field].range
            if !isTranslationKey(payload, range) { checkLabel(payload, range, field.path) }
        }
    }

    /// Checks a button's title.
    mutating func checkLabel(_ bytes: Span<UInt8>, _ range: Range<Int>, isEscaped: Bool = true, _ path: String) {
        let label = TextScan(
            bytes, range, isEscaped: isEscaped, columnsPerLine: PayloadLinter.labelColumnCount)
        guard !label.isEmpty else { return }
        if label.wordCount > 2 { add(.wordyLabel, path) }
        if label.endsWithLabelPunctuation { add(.punctuatedLabel, path) }
        if !label.isForeign, label.lacksTitleCapitals { add(.labelCapitals, path) }
        if isYesOrNo(label, bytes, range, isEscaped: isEscaped) { add(.yesOrNo, path) }
        if label.matches.contains(.pronoun) { add(.pronounInLabel, path) }
        if label.columnCount > PayloadLinter.labelColumnCount { add(.wideLabel, path) }
    }

    /// Returns whether a label is a translation key like `VIEW_REPORT` or `view.report`; only devices know its text.
    private func isTranslationKey(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        var hasJoint = false
        for offset in range {
            let byte = bytes[offset]
            let isJoint = byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
            guard isJoint || byte.isLetterOrDigit || byte == UInt8(ascii: "-") else { return false }
            if isJoint, offset > range.lowerBound, offset < range.upperBound - 1 { hasJoint = true }
        }
        return hasJoint
    }

    /// Returns whether a label is exactly Yes, No, 是, 否 or 不.
    private func isYesOrNo(_ label: TextScan, _ bytes: Span<UInt8>, _ range: Range<Int>, isEscaped: Bool) -> Bool {
        if label.wordCount == 1 { return label.matches.contains(.yesOrNo) && label.columnCount <= 3 }
        guard label.wordCount == 0 else { return false }
        var cursor = ScalarCursor(range, isEscaped: isEscaped)
        guard let first = cursor.next(bytes), cursor.next(bytes) == nil else { return false }
        return first == "是" || first == "否" || first == "不"
    }
}

extension TextScan {
    fileprivate var endsWithLabelPunctuation: Bool {
        switch lastMark {
        case ".", "!", "?", "…", ":", "。", "！", "？", "：": true
        default: false
        }
    }
}
