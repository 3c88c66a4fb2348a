// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The checks of an alert's texts.
///
/// They check only texts in the payload itself. The server does not know the app's translations.
extension PayloadFindings {
    /// Checks the title, message and button of the alert.
    mutating func checkAlert(_ reading: PayloadReading, _ payload: Span<UInt8>, appName: String?) {
        if appName?.utf8.isEmpty == true {
            add(
                .emptyTitle, "",
                text: "The app is registered without a name; set one, because alerts show it as their title.")
        }
        let alert = reading[.alert]
        guard alert.kind == .text || alert.kind == .object, PayloadCheck.emptyMessage.applies(to: pushType) else {
            return
        }
        let title = reading[.title].kind == .text ? reading[.title].range : nil
        let body = alert.kind == .text ? alert.range : reading[.body].kind == .text ? reading[.body].range : nil
        let bodyPath = alert.kind == .text ? "aps.alert" : "aps.alert.body"
        // A scan of an empty range finds nothing. Optional scans would be copied at each access.
        let titleScan = TextScan(payload, title ?? 0..<0, columnsPerLine: PayloadLinter.titleColumnCount)
        let bodyScan = TextScan(payload, body ?? 0..<0, columnsPerLine: PayloadLinter.messageColumnCount)
        let isEnglish = !titleScan.isForeign && !bodyScan.isForeign
        if title != nil { checkTitle(titleScan, isEnglish: isEnglish) }
        if body != nil { checkBody(bodyScan, bodyPath, isEnglish: isEnglish) }
        if body == nil, titleScan.isEmpty, !reading.hasOtherText {
            add(.emptyMessage, bodyPath, severity: .error)
        }
        if let body, let appName, begins(payload, body, with: appName) { add(.repeatedAppName, bodyPath) }
        checkHeight(titleScan, bodyScan)
        checkAction(reading, payload)
    }

    private mutating func checkTitle(_ title: TextScan, isEnglish: Bool) {
        let path = "aps.alert.title"
        guard !title.isEmpty else { return add(.emptyTitle, path) }
        let isOneWord = title.wordCount == 1 && !title.matches.contains(.wide)
        if isOneWord || title.matches.contains(.emptyPhrase) { add(.oneWordTitle, path) }
        if title.lineCount > 1 {
            add(.longTitle, path, text: "The title takes \(title.lineCount) lines; shorten it to one.")
        }
        if title.sentenceCount == 1, !title.isQuestion, title.endsWithTitlePunctuation { add(.punctuatedTitle, path) }
        if isEnglish { checkTitleCapitals(title, path) }
        if title.matches.contains(.pronoun) { add(.pronounInTitle, path) }
        if title.sentenceCount > 1 {
            add(
                .titleSentences, path,
                text: title.isLastSentenceEnded ? nil : "End every sentence of the title with punctuation.")
        }
        checkContent(title, path)
    }

    private mutating func checkTitleCapitals(_ title: TextScan, _ path: String) {
        if title.sentenceCount == 1, title.capitals.firstIsInterrogative, !title.isQuestion {
            add(.titleQuestion, path, text: "A question needs a question mark.")
        } else if title.isQuestion, title.capitals.longCount >= 3,
            title.capitals.longLargeCount == title.capitals.longCount
        {
            add(.titleQuestion, path, text: "A question needs sentence-style capitalization.")
        } else if title.lacksTitleCapitals {
            add(.titleCapitals, path)
        }
    }

    private mutating func checkBody(_ body: TextScan, _ path: String, isEnglish: Bool) {
        guard !body.isEmpty else { return add(.emptyMessage, path, severity: .error) }
        if body.wordCount < 2, body.wideCount < 4 { add(.emptyMessage, path, severity: .warning) }
        if body.lineCount > 2 {
            add(
                .longMessage, path,
                text: "The message takes \(body.lineCount) lines; shorten it to two, or the user must scroll.")
        }
        if !body.endsWithMessagePunctuation { add(.unfinishedMessage, path) }
        if body.capitals.firstIsSmall { add(.smallBeginning, path) }
        let capitals = body.capitals
        if isEnglish, capitals.laterLongCount >= 3, capitals.laterLongLargeCount == capitals.laterLongCount {
            add(.capitalizedMessage, path)
        }
        if body.isCased, capitals.plainCount >= 2, !body.matches.contains(.lowerCase) { add(.shoutedMessage, path) }
        if body.matches.contains(.pronoun) { add(.pronounInMessage, path) }
        checkContent(body, path)
    }

    /// Checks for contents that are unsuitable in titles and messages alike.
    private mutating func checkContent(_ text: TextScan, _ path: String) {
        let matches = text.matches
        // Most texts match none of these, so one test avoids all the others.
        guard !matches.isDisjoint(with: .ofContent) else { return }
        if matches.contains(.progress) || matches.isSuperset(of: [.percentage, .progressing]) {
            add(.normalProgress, path)
        }
        if matches.contains(.confirmation) || matches.isSuperset(of: [.question, .removal]) {
            add(.confirmation, path)
        }
        if matches.contains(.connectionTrouble) { add(.connectionTrouble, path) }
        if matches.contains(.buttonExplained) {
            let sentence = PayloadCheck.explainedButton.sentence
            add(
                .explainedButton, path,
                text: matches.contains(.notTapping) ? "\(sentence) If you must, say \"tap\"." : sentence)
        }
        if !matches.isDisjoint(with: [.quotedLabel, .labelInOtherCapitals]) { add(.quotedLabel, path) }
        if matches.contains(.advertising) { add(.advertising, path) }
        if matches.contains(.technical) { add(.technicalTerm, path) }
    }

    /// Checks whether a screen shows the whole alert; its first line is the app's name or the title.
    private mutating func checkHeight(_ title: TextScan, _ body: TextScan) {
        let lineCount = max(1, title.lineCount) + body.lineCount
        let excess = lineCount - PayloadLinter.landscapeLineCount
        guard excess > 0 else { return }
        let screens = lineCount > PayloadLinter.portraitLineCount ? "landscape and portrait" : "landscape"
        let characterCount = excess * PayloadLinter.messageColumnCount
        add(
            .scrolling, "aps.alert",
            text: "The alert needs scrolling on \(screens) screens: "
                + "shorten the text by about \(characterCount) characters.")
    }

    /// Returns whether a text begins with the app's name as a separate word.
    private func begins(_ payload: Span<UInt8>, _ range: Range<Int>, with appName: String) -> Bool {
        var cursor = ScalarCursor(range)
        var last: Unicode.Scalar?
        for expected in appName.unicodeScalars {
            guard let scalar = cursor.next(payload), scalar.smallASCII == expected.smallASCII else { return false }
            last = scalar
        }
        guard let last else { return false }
        guard !last.isWide, let next = cursor.next(payload) else { return true }
        return !next.properties.isAlphabetic && next.properties.numericType == nil
    }
}

extension PayloadReading {
    /// Whether there is a text besides title and message: a subtitle, or a key of the app's translations.
    fileprivate var hasOtherText: Bool {
        let keys: [PayloadField] = [.subtitle, .subtitleKey, .titleKey, .bodyKey]
        return keys.contains { self[$0].isGiven && !self[$0].range.isEmpty }
            || self[.title].kind == .object || self[.body].kind == .object
    }
}

extension TextScan.Matches {
    /// The matches that are unsuitable in titles and messages alike.
    fileprivate static let ofContent: TextScan.Matches = [
        .progress, .percentage, .confirmation, .removal, .connectionTrouble, .buttonExplained, .quotedLabel,
        .labelInOtherCapitals, .advertising, .technical,
    ]
}

extension TextScan {
    /// Whether the text has words or letters that do not occur in English.
    var isForeign: Bool { !matches.isDisjoint(with: [.foreign, .wide]) }

    /// Whether the text is one fragment or statement without title-style capitals; valid only for English.
    var lacksTitleCapitals: Bool {
        sentenceCount == 1 && !isQuestion && isCased
            && (capitals.firstIsSmall || capitals.laterIsSmall || capitals.innerArticleIsLarge)
    }

    /// Whether the text ends with punctuation that a title should not have.
    var endsWithTitlePunctuation: Bool {
        switch lastMark {
        case ".", "!", "。", "！", "…", ",", ";", ":", "，", "；", "：": true
        default: false
        }
    }

    /// Whether the text ends like a sentence; scripts without such punctuation always pass.
    var endsWithMessagePunctuation: Bool {
        switch lastMark {
        case ".", "!", "?", "。", "！", "？", "؟", "।", "։", "።": true
        case let mark?: mark.isOfUnspacedScript
        case nil: false
        }
    }
}

extension Unicode.Scalar {
    /// The lowercase form of an ASCII uppercase letter; any other scalar unchanged.
    fileprivate var smallASCII: Unicode.Scalar {
        isASCII ? Unicode.Scalar(UInt8(truncatingIfNeeded: value).lowerCased) : self
    }
}
