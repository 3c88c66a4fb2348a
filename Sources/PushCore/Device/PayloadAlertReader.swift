// SPDX-License-Identifier: Apache-2.0

/// Reads the texts of an alert.
///
/// Each is the first of these that there is:
///
/// 1. what the app's translations have for its key (`title-loc-key` and its like), with the arguments in their places;
/// 2. the text that the provider sent along;
/// 3. the key itself where it is a text, as many developers write them: `%@ sent a photo`;
/// 4. of a key that only programs understand, such as `PHOTO_SENT`, the arguments alone.
///
/// None is longer than `LocalizedFormat.byteCountMax`.
struct PayloadAlertReader {
    /// What an alert says of which nothing else is left.
    static let neutralBody = "New notification"

    /// What was read.
    let alert: Payload.Alert

    /// Nil when the alert says nothing.
    ///
    /// - Parameters:
    ///   - value: A text or an object.
    ///   - translation: The app's own text for a key.
    init?(alert value: JSONValue, translation: (String) -> String?) {
        var alert = Payload.Alert()
        switch value {
        case .string:
            alert.body = value.nonEmptyString.map(LocalizedFormat.cut)
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

    /// Reads the label of the button; null is a choice of its own.
    private static func action(_ value: JSONValue?, _ translation: (String) -> String?) -> Payload.Action {
        guard let value else { return .standard }
        if value.isNull { return .none }
        guard let key = value.nonEmptyString else { return .standard }
        if let text = translation(key) { return .labelled(LocalizedFormat.cut(text)) }
        return LocalizedText.isIdentifier(key) ? .standard : .labelled(LocalizedFormat.cut(key))
    }
}

/// One text of an alert: as sent, and by the key of the app's translations.
private struct LocalizedText {
    var sent: String?
    var key: String?
    var arguments: [String]

    /// Nil when there is neither.
    init?(_ name: String, localized prefix: String, in alert: JSONValue) {
        sent = alert[name]?.nonEmptyString
        // Live Activities put the key into an object in the text's place.
        if let inner = alert[name]?["loc-key"]?.nonEmptyString {
            key = inner
            arguments = Self.texts(alert[name]?["loc-args"])
        } else {
            key = alert[prefix + "-key"]?.nonEmptyString
            arguments = Self.texts(alert[prefix + "-args"])
        }
        guard sent != nil || key != nil else { return nil }
    }

    /// What to show; nil when a person would understand nothing of it.
    func text(_ translation: (String) -> String?) -> String? {
        guard let key else { return sent.map(LocalizedFormat.cut) }
        if let format = translation(key) { return LocalizedFormat.fill(format, with: arguments) }
        if let sent { return LocalizedFormat.cut(sent) }
        guard Self.isIdentifier(key) else { return LocalizedFormat.fill(key, with: arguments) }
        let known = arguments.filter { !$0.utf8.elementsEqual(LocalizedFormat.missing.utf8) }
        return known.isEmpty ? nil : LocalizedFormat.cut(known.joined(separator: ", "))
    }

    /// Whether a key is a name for programs: no blank, no place for an argument, but parts joined by `_` or `.`.
    static func isIdentifier(_ key: String) -> Bool {
        let isJoint: (UInt8) -> Bool = { $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".") }
        let isPlain = key.utf8.allSatisfy { $0.isLetterOrDigit || isJoint($0) || $0 == UInt8(ascii: "-") }
        // A full stop at the end is one of a text.
        return isPlain && key.utf8.dropFirst().dropLast().contains(where: isJoint)
    }

    /// Each in its place: a whole number as its digits, and what is no text as something that is missing.
    private static func texts(_ value: JSONValue?) -> [String] {
        value?.array?.map { $0.string ?? $0.integer.map { "\($0)" } ?? LocalizedFormat.missing } ?? []
    }
}
