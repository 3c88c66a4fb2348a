// SPDX-License-Identifier: Apache-2.0

/// Detects sequences of known words.
struct WordSequence {
    /// The properties of a token.
    struct Facts {
        let text: PackedText
        /// The index of the first scalar; `end` is the index after the last one.
        let start: Int
        let end: Int
        let before: Unicode.Scalar
        let digitCount: Int
        let firstDigit: UInt8

        /// Whether the token consists only of digits.
        var isNumber: Bool { digitCount > 0 && digitCount == text.count }
    }

    private(set) var tokenCount = 0
    private(set) var lastToken = PackedText()
    private(set) var lastTokenBefore: Unicode.Scalar = " "
    private(set) var lastTokenEnd = -1
    /// Whether the last word is a capitalized article or conjunction; it counts only if another word follows.
    var isLargeArticlePending = false
    /// The words of the last three tokens, with `last` the newest; nil for unknown words.
    private var last: KnownWord?
    private var second: KnownWord?
    private var third: KnownWord?
    private var lastDigitCount = 0
    private var isLastNumber = false
    private var isThirdStep = false
    /// The number of tokens since the last verb for pressing a button.
    private var pressingDistance = 100
    private var percentIndex: Int?
    private var isPercentOfProgress = false

    /// Whether a label at this position follows a verb for pressing, optionally with "on" and "the" between.
    var isBehindPressing: Bool {
        if last?.traits.contains(.pressing) == true { return true }
        guard last == .on || last == .the else { return false }
        if second?.traits.contains(.pressing) == true { return true }
        return last == .the && second == .on && third?.traits.contains(.pressing) == true
    }
    /// Whether the last verb for pressing was "tap".
    private(set) var isPressingTap = false

    /// Processes the next token.
    mutating func take(
        _ word: KnownWord?, _ traits: KnownWord.Traits, _ facts: Facts, _ matches: inout TextScan.Matches
    ) {
        if percentIndex != nil { resolvePercentSign(before: facts, &matches) }
        if let word { takeKnown(word, traits, &matches) }
        takeAny(word, facts, &matches)
        pressingDistance += 1
        if word == .button, pressingDistance <= 3 {
            matches.insert(.buttonExplained)
            if !isPressingTap { matches.insert(.notTapping) }
        }
        if traits.contains(.pressing) {
            pressingDistance = 0
            isPressingTap = word == .tap
        }
        (third, second, last) = (second, last, word)
        isLastNumber = facts.isNumber
        lastDigitCount = facts.digitCount
        lastToken = facts.text
        lastTokenBefore = facts.before
        lastTokenEnd = facts.end
        tokenCount += 1
    }

    /// Processes a known word after others.
    private mutating func takeKnown(_ word: KnownWord, _ traits: KnownWord.Traits, _ matches: inout TextScan.Matches) {
        switch (last, word) {
        case (_, .downloading), (_, .uploading), (.in, .progress), (.still, .running): matches.insert(.progress)
        case (.buy, .now), (.limited, .time), (.free, .trial), (.special, .offer), (.upgrade, .now):
            matches.insert(.advertising)
        case (.stack, .trace): matches.insert(.technical)
        case (.you, .sure) where second == .are: matches.insert(.confirmation)
        default: break
        }
    }

    /// Processes a token that may be any word or number.
    private mutating func takeAny(_ word: KnownWord?, _ facts: Facts, _ matches: inout TextScan.Matches) {
        if facts.isNumber {
            // In "step 3 of 5" the number is an unknown word, so "of" is the last word here.
            if last == .of, isThirdStep { matches.insert(.progress) }
            let isStatus = facts.digitCount == 3 && Self.isStatusDigit(facts.firstDigit)
            if isStatus, Self.isStatusWord(last), facts.start - lastTokenEnd <= 3 { matches.insert(.technical) }
        } else if facts.digitCount > 0, Self.isTechnical(facts) {
            matches.insert(.technical)
        }
        isThirdStep = word == .of && isLastNumber && second == .step
        if word == nil, hasConnectionFailed, Self.isConnecting(facts.text) { matches.insert(.connectionTrouble) }
    }

    /// Whether the last words express that something failed.
    private var hasConnectionFailed: Bool {
        switch last {
        case .cannot, .cant: true
        case .not: second == .could
        case .to: second == .unable || second == .failed
        default: false
        }
    }

    private static let connecting = ["connect", "reach", "sync"].map(PackedText.init)

    private static func isConnecting(_ text: PackedText) -> Bool { connecting.contains { text.hasPrefix($0) } }

    private static func isStatusWord(_ word: KnownWord?) -> Bool {
        word == .http || word == .error || word == .status
    }

    private static func isStatusDigit(_ digit: UInt8) -> Bool {
        digit == UInt8(ascii: "4") || digit == UInt8(ascii: "5")
    }

    private static let hexadecimal = PackedText("0x")
    private static let statusWords = ["http", "error", "status"].map(PackedText.init)

    /// Returns whether a token has the form of `0x80070005` or `error404`.
    private static func isTechnical(_ facts: Facts) -> Bool {
        if facts.text.count > 2, facts.text.hasPrefix(hexadecimal) { return true }
        guard facts.digitCount == 3, isStatusDigit(facts.firstDigit) else { return false }
        return statusWords.contains { facts.text.count == $0.count + 3 && facts.text.hasPrefix($0) }
    }
}

extension WordSequence {
    /// Processes a percent sign, which counts directly after a number or after a number and a space.
    mutating func takePercentSign(at index: Int, behindBlank: Bool) {
        let isNear = lastTokenEnd == index || (lastTokenEnd == index - 1 && behindBlank)
        guard isLastNumber, isNear else { return }
        percentIndex = index
        isPercentOfProgress = lastDigitCount <= 3
    }

    /// Interprets a pending percent sign that no token follows.
    mutating func resolvePercentSign(_ matches: inout TextScan.Matches) {
        guard percentIndex != nil else { return }
        percentIndex = nil
        if isPercentOfProgress { matches.insert(.percentage) }
    }

    /// Interprets a pending percent sign before a token: "20% off" is advertising.
    private mutating func resolvePercentSign(before facts: Facts, _ matches: inout TextScan.Matches) {
        guard let index = percentIndex, facts.start == index + 2, facts.before == " ", facts.text.hasPrefix(Self.off)
        else { return resolvePercentSign(&matches) }
        percentIndex = nil
        matches.insert(.advertising)
    }

    private static let off = PackedText("off")
}
