// SPDX-License-Identifier: Apache-2.0

/// Detects phrases in sequences of East Asian letters.
struct WideText {
    /// The last four letters; any other scalar empties the window.
    var window: UInt64 = 0
    private(set) var letterCount = 0
    private(set) var endsWithEmptyWord = false
    private(set) var isPressingTap = false
    private var pressingEnd = -10
    private var isQuotedLabelPending = false
    private var isPronounPending = false

    /// Whether a decision depends on the next scalar.
    var isPending: Bool { isQuotedLabelPending || isPronounPending }

    /// Processes a letter.
    mutating func take(
        _ scalar: Unicode.Scalar, at index: Int, behind previous: Unicode.Scalar,
        _ beforePrevious: Unicode.Scalar, _ matches: inout TextScan.Matches
    ) {
        letterCount += 1
        endsWithEmptyWord = false
        window = ChinesePhrase.push(scalar, into: window)
        if scalar == "你" { matches.insert(.pronoun) }
        // 自我 means "self" and 我們 means "we", so neither is the pronoun "I".
        isPronounPending = scalar == "我" && previous != "自"
        guard let phrase = ChinesePhrase.ending(window) else { return }
        switch phrase.meaning {
        case .progress: matches.insert(.progress)
        case .confirmation: matches.insert(.confirmation)
        case .connectionTrouble: matches.insert(.connectionTrouble)
        case .advertising: matches.insert(.advertising)
        case .emptyWord: endsWithEmptyWord = true
        case .pressing, .pressingNotTapping:
            pressingEnd = index
            isPressingTap = phrase.meaning == .pressing
        case .label:
            isQuotedLabelPending = beforePrevious.isQuote
            guard isBehindPressing(index - 1, before: beforePrevious) else { return }
            matches.insert(.buttonExplained)
            if !isPressingTap { matches.insert(.notTapping) }
        }
    }

    /// Makes the decisions that depend on the next scalar; nil is the end of the text.
    mutating func resolve(before scalar: Unicode.Scalar?, _ matches: inout TextScan.Matches) {
        if isQuotedLabelPending, scalar?.isQuote == true { matches.insert(.quotedLabel) }
        if isPronounPending, scalar != "們", scalar != "们" { matches.insert(.pronoun) }
        isQuotedLabelPending = false
        isPronounPending = false
    }

    /// Returns whether a label starting here follows a verb for pressing, optionally with a quotation mark between.
    func isBehindPressing(_ start: Int, before: Unicode.Scalar) -> Bool {
        start == pressingEnd + 1 || (start == pressingEnd + 2 && before.isQuote)
    }
}
