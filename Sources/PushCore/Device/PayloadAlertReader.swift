// SPDX-License-Identifier: Apache-2.0

/// Reads the texts of an alert.
///
/// For each text, the reader uses the first of these that exists:
///
/// 1. The app's translation of its key (`title-loc-key` and so on), with the arguments filled in.
/// 2. The text that the provider sent.
/// 3. The key itself when it is readable text, such as `%@ sent a photo`, which many developers use as keys.
/// 4. The arguments alone, when the key is an identifier such as `PHOTO_SENT`.
///
/// No text is longer than `LocalizedFormat.byteCountMax`.
struct PayloadAlertReader {
    /// The body of an alert for which no other text is left.
    static let neutralBody = "New notification"

    let alert: Payload.Alert

    /// Reads an alert; returns nil if it has no text, or only blank ones.
    ///
    /// - Parameters:
    ///   - value: A string or an object.
    ///   - translation: Returns the app's own text for a key.
    init?(alert value: JSONValue, translation: (String) -> String?) {
        var alert = Payload.Alert()
        switch value {
        case .string:
            alert.body = value.visibleString.map(LocalizedFormat.cut)
            guard alert.body != nil else { return nil }
        case .object:
            let title = LocalizedText("title", localized: "title-loc", in: value)
            let subtitle = LocalizedText("subtitle", localized: "subtitle-loc", in: value)
            let body = LocalizedText("body", localized: "loc", in: value)
            guard title != nil || subtitle != nil || body != nil else { return nil }
            alert.title = title?.text(translation)
            alert.subtitle = subtitle?.text(translation)
            alert.body = body?.text(translation)
            if alert.title == nil, alert.subtitle == nil, alert.body == nil { alert.body = Self.neutralBody }
            alert.action = Self.action(value["action-loc-key"], translation)
        case .null, .bool, .integer, .number, .array:
            return nil
        }
        self.alert = alert
    }

    /// Reads the label of the button; null means that there is no button, unlike an absent member.
    private static func action(_ value: JSONValue?, _ translation: (String) -> String?) -> Payload.Action {
        guard let value else { return .standard }
        if value.isNull { return .none }
        guard let key = value.visibleString else { return .standard }
        if let text = translation(key) { return .labelled(LocalizedFormat.cut(text)) }
        return LocalizedText.isIdentifier(key) ? .standard : .labelled(LocalizedFormat.cut(key))
    }
}

/// One text of an alert: the text that was sent, and the key of its translation.
private struct LocalizedText {
    var sent: String?
    var key: String?
    var arguments: [String]

    /// Reads the text and the key; returns nil if there is neither.
    init?(_ name: String, localized prefix: String, in alert: JSONValue) {
        sent = alert[name]?.visibleString
        // Live Activities replace the text by an object that contains the key.
        if let inner = alert[name]?["loc-key"]?.visibleString {
            key = inner
            arguments = Self.texts(alert[name]?["loc-args"])
        } else {
            key = alert[prefix + "-key"]?.visibleString
            arguments = Self.texts(alert[prefix + "-args"])
        }
        guard sent != nil || key != nil else { return nil }
    }

    /// Returns the text to show; nil if there is nothing that a user would understand.
    func text(_ translation: (String) -> String?) -> String? {
        let text = possiblyEmptyText(translation)
        return DisplayText.isBlank(text) ? nil : text
    }

    /// Returns the text to show; empty if neither the texts nor the arguments contain any.
    private func possiblyEmptyText(_ translation: (String) -> String?) -> String {
        guard let key else { return LocalizedFormat.cut(sent ?? "") }
        if let format = translation(key) { return LocalizedFormat.fill(format, with: arguments) }
        if let sent { return LocalizedFormat.cut(sent) }
        guard Self.isIdentifier(key) else { return LocalizedFormat.fill(key, with: arguments) }
        let known = arguments.filter { !$0.isEmpty && !$0.utf8.elementsEqual(LocalizedFormat.missing.utf8) }
        return LocalizedFormat.cut(known.joined(separator: ", "))
    }

    /// Returns whether a key is an identifier: parts joined by `_` or `.`, without spaces and placeholders.
    static func isIdentifier(_ key: String) -> Bool {
        let isJoint: (UInt8) -> Bool = { $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".") }
        let isPlain = key.utf8.allSatisfy { $0.isLetterOrDigit || isJoint($0) || $0 == UInt8(ascii: "-") }
        // A trailing dot is the full stop of a sentence.
        return isPlain && key.utf8.dropFirst().dropLast().contains(where: isJoint)
    }

    /// Returns the arguments in order; integers become digits, and other non-strings become `missing`.
    private static func texts(_ value: JSONValue?) -> [String] {
        value?.array?.map { $0.string ?? $0.integer.map { "\($0)" } ?? LocalizedFormat.missing } ?? []
    }
}

extension JSONValue {
    /// The text of a string of which something is visible; nil for any other value.
    fileprivate var visibleString: String? { nonEmptyString.flatMap { DisplayText.isBlank($0) ? nil : $0 } }
}
