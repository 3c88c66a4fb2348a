// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The properties of a text that the checks need, found in one pass over its scalars.
///
/// ```
///  scalars ──▶ tokens: runs of letters and digits ──▶ words: whitespace-delimited ──▶ the text
///                 known words, sequences of them         capitals                       sentences, lines
/// ```
///
/// East Asian letters do not form tokens. The scan keeps the last four of them and compares them with phrases.
struct TextScan {
    /// The features that occur somewhere in the text.
    struct Matches: OptionSet {
        let rawValue: UInt32
        static let progress = Matches(rawValue: 1 << 0)
        static let confirmation = Matches(rawValue: 1 << 1)
        static let removal = Matches(rawValue: 1 << 2)
        static let connectionTrouble = Matches(rawValue: 1 << 3)
        static let pronoun = Matches(rawValue: 1 << 4)
        static let buttonExplained = Matches(rawValue: 1 << 5)
        /// The text explains a button with another verb than "tap".
        static let notTapping = Matches(rawValue: 1 << 6)
        static let labelInOtherCapitals = Matches(rawValue: 1 << 7)
        static let quotedLabel = Matches(rawValue: 1 << 8)
        static let advertising = Matches(rawValue: 1 << 9)
        static let technical = Matches(rawValue: 1 << 10)
        static let question = Matches(rawValue: 1 << 11)
        /// The text has words or letters that do not occur in English.
        static let foreign = Matches(rawValue: 1 << 12)
        static let upperCase = Matches(rawValue: 1 << 13)
        static let lowerCase = Matches(rawValue: 1 << 14)
        static let emptyPhrase = Matches(rawValue: 1 << 15)
        static let wide = Matches(rawValue: 1 << 16)
        static let yesOrNo = Matches(rawValue: 1 << 17)
        static let percentage = Matches(rawValue: 1 << 18)
        /// The text has a word that makes a percentage a report of progress.
        static let progressing = Matches(rawValue: 1 << 19)
    }

    /// The capitalization of the words.
    struct Capitals {
        var firstIsSmall = false
        var firstIsInterrogative = false
        /// Whether a later word begins in lowercase and is not an article, conjunction or preposition.
        var laterIsSmall = false
        /// Whether an article or a conjunction is capitalized and is neither the first nor the last word.
        var innerArticleIsLarge = false
        /// The numbers of words with at least four letters.
        ///
        /// `later` excludes the first word of the text. `Large` counts only capitalized words.
        var longCount = 0, longLargeCount = 0, laterLongCount = 0, laterLongLargeCount = 0
        /// The number of words with at least two letters.
        var plainCount = 0
    }

    var matches: Matches = []
    var capitals = Capitals()
    /// The number of whitespace-delimited words with a letter or a digit.
    var wordCount = 0
    /// The number of East Asian characters with their punctuation, and of letters in scripts without spaces.
    var wideCount = 0
    /// The number of sentences; the last one may be unfinished.
    private(set) var sentenceCount = 0
    private(set) var isLastSentenceEnded = false
    /// The last scalar that is not whitespace, a closing quotation mark or a closing bracket; nil before the first one.
    private(set) var lastMark: Unicode.Scalar?
    /// The width of the widest line in columns; `lineCount` is the number of lines after wrapping at `columnsPerLine`.
    private(set) var columnCount = 0
    private(set) var lineCount = 0
    /// The sum of the widths of all lines, in columns.
    private(set) var columnCountTotal = 0

    /// The number of processed scalars.
    var index = 0
    /// The scalar before the current one, and in `beforePrevious` the one before that.
    var previous: Unicode.Scalar = " "
    var beforePrevious: Unicode.Scalar = " "
    var token = Token()
    var word = Word()
    var sequence = WordSequence()
    var wide = WideText()
    private let columnsPerLine: Int
    private var lineColumnCount = 0
    private var isEndPending = false
    private var hasSentenceText = false

    /// Scans a text.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that contain the text.
    ///   - range: The range of the text.
    ///   - isEscaped: Whether the text has JSON escape sequences.
    ///   - columnsPerLine: The number of columns at which lines wrap.
    init(_ bytes: Span<UInt8>, _ range: Range<Int>, isEscaped: Bool = true, columnsPerLine: Int) {
        self.columnsPerLine = columnsPerLine
        var cursor = ScalarCursor(range, isEscaped: isEscaped)
        while true {
            if !token.isActive, let run = cursor.nextRun(bytes) { takeRun(bytes, run) }
            guard let scalar = cursor.next(bytes) else { break }
            take(scalar)
            beforePrevious = previous
            previous = scalar
            index += 1
        }
        finish()
    }

    /// Whether the text is empty apart from whitespace and closing marks.
    var isEmpty: Bool { lastMark == nil }

    /// Whether the text has uppercase or lowercase letters.
    var isCased: Bool { !matches.isDisjoint(with: [.upperCase, .lowerCase]) }

    /// Whether the text, considered alone, may be English, so that English capitalization rules apply.
    var maybeEnglish: Bool { isCased && matches.isDisjoint(with: [.foreign, .wide]) }

    /// Whether the text ends with a question mark.
    var isQuestion: Bool { lastMark == "?" || lastMark == "？" || lastMark == "؟" }

    /// Processes the start of a token in one step.
    ///
    /// The result is the same as calling `take` for each letter, without the tests that cannot apply to letters and
    /// digits.
    private mutating func takeRun(_ bytes: Span<UInt8>, _ run: Range<Int>) {
        let last = Unicode.Scalar(bytes[run.upperBound - 1])
        // A full stop before a letter does not end a sentence.
        isEndPending = false
        if wide.isPending { wide.resolve(before: Unicode.Scalar(bytes[run.lowerBound]), &matches) }
        beginToken(with: run, of: bytes)
        hasSentenceText = true
        lastMark = last
        beforePrevious = run.count > 1 ? Unicode.Scalar(bytes[run.upperBound - 2]) : previous
        previous = last
        lineColumnCount += run.count
        index += run.count
    }

    private mutating func take(_ scalar: Unicode.Scalar) {
        if scalar.isASCII {
            lineColumnCount += 1
        } else {
            takeColumns(of: scalar)
        }
        if isEndPending { resolveSentenceEnd(before: scalar) }
        if wide.isPending { wide.resolve(before: scalar, &matches) }
        if scalar.isASCII ? UInt8(truncatingIfNeeded: scalar.value).isLetterOrDigit : isLetter(scalar) {
            hasSentenceText = true
            lastMark = scalar
            return takeLetter(scalar)
        }
        if token.isActive, scalar == "'" || scalar == "’" { return takeApostrophe() }
        takeOther(scalar)
    }

    /// Processes a scalar that is neither a letter nor a digit.
    private mutating func takeOther(_ scalar: Unicode.Scalar) {
        if token.isActive { endToken(next: scalar) }
        wide.window = 0
        if scalar == "\n" { endLine() }
        guard !scalar.isBlank else { return endWord() }
        if scalar == "%" { sequence.takePercentSign(at: index, behindBlank: previous.isBlank) }
        if scalar.isSentenceEnd {
            isEndPending = scalar != "." || !isAbbreviated
            if scalar == "?" { matches.insert(.question) }
        } else if scalar.isWideSentenceEnd {
            endSentence()
            if scalar == "？" { matches.insert(.question) }
        }
        if !scalar.isCloser { lastMark = scalar }
    }

    /// Whether the full stop at the current position belongs to an abbreviation.
    private var isAbbreviated: Bool {
        guard sequence.lastTokenEnd == index else { return false }
        return Self.abbreviations[sequence.lastToken] != nil
            || (sequence.lastTokenBefore == "." && Self.abbreviationEnds[sequence.lastToken] != nil)
    }

    private static let abbreviations = PackedTable(["mr", "mrs", "dr", "vs"].map { (key: $0, value: true) })
    /// The last letters of "e.g." and "i.e.".
    private static let abbreviationEnds = PackedTable(["g", "e"].map { (key: $0, value: true) })

    private mutating func resolveSentenceEnd(before scalar: Unicode.Scalar?) {
        guard let scalar else { return endSentence() }
        if scalar.isSentenceEnd { return }
        isEndPending = false
        if scalar.isBlank || scalar.isCloser { endSentence() }
    }

    private mutating func endSentence() {
        isEndPending = false
        guard hasSentenceText else { return }
        sentenceCount += 1
        hasSentenceText = false
    }

    private mutating func takeColumns(of scalar: Unicode.Scalar) {
        if scalar.isWide {
            lineColumnCount += 2
            if scalar.value < 0x1F000 || scalar.value >= 0x20000 { wideCount += 1 }
            return
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .nonspacingMark, .enclosingMark: return
        default: lineColumnCount += 1
        }
        if scalar.isOfUnspacedScript {
            wideCount += 1
            matches.insert(.wide)
        }
    }

    private mutating func endLine() {
        columnCount = max(columnCount, lineColumnCount)
        columnCountTotal += lineColumnCount
        lineCount += max(1, (lineColumnCount + columnsPerLine - 1) / columnsPerLine)
        lineColumnCount = 0
    }

    private mutating func finish() {
        if token.isActive { endToken(next: nil) }
        endWord()
        if isEndPending { resolveSentenceEnd(before: nil) }
        if wide.isPending { wide.resolve(before: nil, &matches) }
        sequence.resolvePercentSign(&matches)
        isLastSentenceEnded = !hasSentenceText
        if hasSentenceText { sentenceCount += 1 }
        if !isEmpty || lineColumnCount > 0 { endLine() }
        if wide.letterCount == 2, sequence.tokenCount == 0, wide.endsWithEmptyWord { matches.insert(.emptyPhrase) }
    }
}
