// SPDX-License-Identifier: Apache-2.0

internal import PushCore

extension TextScan {
    /// A run of letters and digits, including apostrophes between them.
    struct Token {
        fileprivate(set) var isActive = false
        /// The text in lowercase; each non-ASCII letter is a byte that occurs in no known word.
        fileprivate var text = PackedText()
        fileprivate var start = 0
        /// The scalar before the token.
        fileprivate var before: Unicode.Scalar = " "
        fileprivate var digitCount = 0
        fileprivate var firstDigit: UInt8 = 0
        fileprivate var upperCount = 0
        fileprivate var hasPendingApostrophe = false
        /// The last eight bytes in lowercase.
        fileprivate var recent: UInt64 = 0
    }

    /// A whitespace-delimited word.
    struct Word {
        fileprivate var tokenCount = 0
        fileprivate var letterCount = 0
        fileprivate var hasDigit = false
        fileprivate var hasInnerCapital = false
        fileprivate var beginsSmall = false
        fileprivate var beginsLarge = false
        fileprivate var traits: KnownWord.Traits = []
        fileprivate var isLoneSmallI = false
    }

    /// Processes a letter or digit of any script.
    @inline(__always)
    mutating func takeLetter(_ scalar: Unicode.Scalar) {
        if scalar.isASCII {
            if !token.isActive { beginToken() }
            takeASCII(UInt8(truncatingIfNeeded: scalar.value))
        } else {
            takeOtherLetter(scalar)
        }
    }

    private mutating func beginToken() {
        token = Token()
        token.isActive = true
        token.start = index
        token.before = previous
        wide.window = 0
    }

    @inline(__always)
    private mutating func takeASCII(_ byte: UInt8) {
        if token.hasPendingApostrophe { joinApostrophe() }
        let small = byte.lowerCased
        token.text.append(small)
        token.recent = token.recent << 8 | UInt64(small)
        if Decimal.isDigit(byte) {
            if token.digitCount == 0 { token.firstDigit = byte }
            token.digitCount += 1
            word.hasDigit = true
        } else {
            takeCase(isUpper: byte != small)
        }
        noteAdvertising(token.recent)
    }

    /// Starts a token with a run of ASCII letters and digits that fits into a packed text.
    mutating func beginToken(with run: Range<Int>, of bytes: Span<UInt8>) {
        beginToken()
        let written = PackedText(bytes, run)
        token.text = written.lowerCased
        token.upperCount = written.largeCount(besides: token.text)
        token.digitCount = token.text.digitCount
        let letterCount = run.count - token.digitCount
        if letterCount > 0 {
            noteRecent(run, of: bytes)
            takeCases(of: run, letterCount, in: bytes)
        }
        guard token.digitCount > 0 else { return }
        word.hasDigit = true
        for offset in run where Decimal.isDigit(bytes[offset]) {
            token.firstDigit = bytes[offset]
            return
        }
    }

    private mutating func noteRecent(_ run: Range<Int>, of bytes: Span<UInt8>) {
        // A shorter run cannot contain "promo", the shortest of the advertising terms.
        guard run.count >= 5 else { return token.recent = token.text.first }
        var recent: UInt64 = 0
        for offset in run {
            // Setting this bit makes a letter lowercase; digits have it anyway.
            recent = recent << 8 | UInt64(bytes[offset] | 0x20)
            noteAdvertising(recent)
        }
        token.recent = recent
    }

    /// Records the case of the given number of letters in a run, which is the start or a later part of the word.
    private mutating func takeCases(of run: Range<Int>, _ letterCount: Int, in bytes: Span<UInt8>) {
        if token.upperCount > 0 { matches.insert(.upperCase) }
        if token.upperCount < letterCount { matches.insert(.lowerCase) }
        var innerUpperCount = token.upperCount
        if word.letterCount == 0 {
            var first = run.lowerBound
            while Decimal.isDigit(bytes[first]) { first += 1 }
            let isBehindDigit = word.hasDigit || first > run.lowerBound
            if bytes[first] & 0x20 == 0 {
                word.beginsLarge = !isBehindDigit
                innerUpperCount -= 1
            } else {
                word.beginsSmall = !isBehindDigit
            }
        }
        if innerUpperCount > 0 { word.hasInnerCapital = true }
        word.letterCount += letterCount
    }

    @inline(__always)
    private mutating func takeCase(isUpper: Bool) {
        word.letterCount += 1
        if isUpper {
            token.upperCount += 1
            matches.insert(.upperCase)
            if word.letterCount == 1 { word.beginsLarge = !word.hasDigit } else { word.hasInnerCapital = true }
        } else {
            matches.insert(.lowerCase)
            if word.letterCount == 1 { word.beginsSmall = !word.hasDigit }
        }
    }

    /// Processes a non-ASCII letter; East Asian letters do not form tokens.
    private mutating func takeOtherLetter(_ scalar: Unicode.Scalar) {
        if scalar.isWide {
            if token.isActive { endToken(next: scalar) }
            sequence.resolvePercentSign(&matches)
            matches.insert(.wide)
            return wide.take(scalar, at: index, behind: previous, beforePrevious, &matches)
        }
        if !token.isActive { beginToken() }
        if token.hasPendingApostrophe { joinApostrophe() }
        token.text.append(0xFF)
        token.recent = 0
        matches.insert(.foreign)
        let properties = scalar.properties
        if properties.isUppercase || properties.isLowercase {
            takeCase(isUpper: properties.isUppercase)
        } else {
            word.letterCount += 1
        }
    }

    /// Returns whether a non-ASCII scalar is a letter or a digit.
    func isLetter(_ scalar: Unicode.Scalar) -> Bool {
        // Lookups in Unicode's tables take longer than all the rest, and these ranges need none.
        switch scalar.value {
        case 0x4E00...0x9FFF: return true
        case 0x2000...0x206F, 0x3001...0x3003, 0x3008...0x3020, 0xFF01...0xFF0F: return false
        default: break
        }
        return scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    }

    /// Holds back an apostrophe until the next scalar shows whether a letter follows.
    mutating func takeApostrophe() {
        if token.hasPendingApostrophe {
            endToken(next: "'")
        } else {
            token.hasPendingApostrophe = true
        }
    }

    private mutating func joinApostrophe() {
        token.hasPendingApostrophe = false
        token.text.append(UInt8(ascii: "'"))
        token.recent = 0
    }

    /// Detects "discount", "coupon" and "promo" anywhere in a word; `endToken` detects "sale" at the end of one.
    @inline(__always)
    private mutating func noteAdvertising(_ recent: UInt64) {
        // Most letters are not the last letter of one of these terms.
        switch UInt8(truncatingIfNeeded: recent) {
        case UInt8(ascii: "t"), UInt8(ascii: "n"), UInt8(ascii: "o"): break
        default: return
        }
        if recent == Self.discount || recent & 0xFFFF_FFFF_FFFF == Self.coupon || recent & 0xFF_FFFF_FFFF == Self.promo
        {
            matches.insert(.advertising)
        }
    }

    // The terms are numbers, because a text would have to be converted at each letter.
    /// The ASCII bytes of "discount".
    private static let discount: UInt64 = 0x64_69_73_63_6F_75_6E_74
    /// The ASCII bytes of "coupon".
    private static let coupon: UInt64 = 0x63_6F_75_70_6F_6E
    /// The ASCII bytes of "promo".
    private static let promo: UInt64 = 0x70_72_6F_6D_6F
    /// The ASCII bytes of "sale".
    private static let sale: UInt64 = 0x73_61_6C_65

    /// Ends a token before a scalar; nil is the end of the text.
    mutating func endToken(next: Unicode.Scalar?) {
        token.isActive = false
        if token.recent & 0xFFFF_FFFF == Self.sale { matches.insert(.advertising) }
        let next: Unicode.Scalar? = token.hasPendingApostrophe ? "'" : next
        let end = index - (token.hasPendingApostrophe ? 1 : 0)
        let known = KnownWord.table[token.text]
        word.tokenCount += 1
        word.traits = word.tokenCount == 1 ? known?.traits ?? [] : []
        word.isLoneSmallI = known?.word == .i && token.upperCount == 0
        if known?.traits.contains(.foreign) == true { matches.insert(.foreign) }
        if known?.traits.contains(.technical) == true { matches.insert(.technical) }
        if known?.traits.contains(.progressing) == true { matches.insert(.progressing) }
        if known?.traits.contains(.removal) == true { matches.insert(.removal) }
        if known?.word == .yes || known?.word == .no { matches.insert(.yesOrNo) }
        if let known, known.traits.contains(.label) { takeLabel(known.word, next: next) }
        let facts = WordSequence.Facts(
            text: token.text, start: token.start, end: end, before: token.before, digitCount: token.digitCount,
            firstDigit: token.firstDigit)
        sequence.take(known?.word, known?.traits ?? [], facts, &matches)
    }

    /// Processes a token that is a button label.
    private mutating func takeLabel(_ label: KnownWord, next: Unicode.Scalar?) {
        let isAsShown = token.upperCount == (label == .ok ? 2 : 1) && (label == .ok || isTokenLarge)
        if isAsShown, token.before.isQuote, next?.isQuote == true { matches.insert(.quotedLabel) }
        let isExplained = sequence.isBehindPressing || wide.isBehindPressing(token.start, before: token.before)
        guard isExplained else { return }
        matches.insert(.buttonExplained)
        if !isAsShown { matches.insert(.labelInOtherCapitals) }
        if sequence.isBehindPressing ? !sequence.isPressingTap : !wide.isPressingTap { matches.insert(.notTapping) }
    }

    private var isTokenLarge: Bool { word.beginsLarge }

    /// Ends the current whitespace-delimited word.
    mutating func endWord() {
        defer { word = Word() }
        guard word.tokenCount > 0 else { return }
        wordCount += 1
        if word.traits.contains(.pronoun), !word.isLoneSmallI { matches.insert(.pronoun) }
        let isExempt = word.hasInnerCapital || word.hasDigit
        // The names of hosts, files and units have no capitals: db.example.org, nginx.service.
        let isName = isExempt || word.tokenCount > 1
        if word.letterCount >= 2 { capitals.plainCount += 1 }
        noteArticle(isExempt: isExempt)
        if wordCount == 1 {
            capitals.firstIsSmall = word.beginsSmall && !isName && wide.letterCount == 0
            capitals.firstIsInterrogative = word.traits.contains(.interrogative)
        } else if word.beginsSmall, !isName,
            word.traits.isDisjoint(with: [.articleOrConjunction, .preposition])
        {
            capitals.laterIsSmall = true
        }
        guard word.letterCount >= 4, !isExempt else { return }
        capitals.longCount += 1
        capitals.longLargeCount += word.beginsLarge ? 1 : 0
        guard wordCount > 1 else { return }
        capitals.laterLongCount += 1
        capitals.laterLongLargeCount += word.beginsLarge ? 1 : 0
    }

    /// Records a capitalized article or conjunction as an inner one when another word follows it.
    private mutating func noteArticle(isExempt: Bool) {
        if sequence.isLargeArticlePending { capitals.innerArticleIsLarge = true }
        sequence.isLargeArticlePending =
            wordCount > 1 && word.beginsLarge && !isExempt && word.traits.contains(.articleOrConjunction)
    }
}
