// SPDX-License-Identifier: Apache-2.0

extension Payload {
    /// Reads a payload.
    ///
    /// - Parameter bytes: The payload as the provider sent it.
    /// - Throws: `JSONError`, when it is not a JSON object; the server lets no such payload through.
    package init(parsing bytes: Span<UInt8>) throws(JSONError) {
        try JSONValidator.validateObject(bytes)
        self.init(try JSONValue(parsing: bytes)["aps"] ?? .null)
    }

    /// Reads the `aps` of a payload.
    private init(_ aps: JSONValue) {
        self.init(
            alert: aps["alert"].flatMap(Alert.init), badge: aps["badge"]?.integer.flatMap(UInt32.init(exactly:)),
            // In Live Activities the sound is a part of the alert.
            sound: (aps["sound"] ?? aps["alert"]?["sound"]).flatMap(Sound.init),
            category: aps["category"]?.nonEmptyString, threadID: aps["thread-id"]?.nonEmptyString,
            isContentAvailable: aps["content-available"]?.integer == 1,
            isMutable: aps["mutable-content"]?.integer == 1,
            interruptionLevel: aps["interruption-level"]?.string.flatMap(InterruptionLevel.init) ?? .active)
    }
}

extension Payload.Alert {
    /// Reads an alert, which is a string or an object; nil when it says nothing.
    fileprivate init?(_ value: JSONValue) {
        self.init()
        switch value {
        case .string:
            body = value.nonEmptyString
        case .object:
            title = Self.text("title", localized: "title-loc", in: value)
            subtitle = Self.text("subtitle", localized: "subtitle-loc", in: value)
            body = Self.text("body", localized: "loc", in: value)
            action = Self.action(value["action-loc-key"])
        case .null, .bool, .integer, .number, .array:
            return nil
        }
        guard title != nil || subtitle != nil || body != nil else { return nil }
    }

    /// Reads the label of the button; null is a choice of its own.
    private static func action(_ value: JSONValue?) -> Payload.Action {
        guard let value else { return .standard }
        if value.isNull { return .none }
        return value.nonEmptyString.map(Payload.Action.labelled) ?? .standard
    }

    /// Reads one text; a key for the app's own translations stands in for a text that is not there.
    private static func text(_ name: String, localized prefix: String, in alert: JSONValue) -> String? {
        if let text = alert[name]?.nonEmptyString { return text }
        // Live Activities put the key into an object in the text's place.
        if let object = alert[name], let text = format(object["loc-key"], object["loc-args"]) { return text }
        return format(alert[prefix + "-key"], alert[prefix + "-args"])
    }

    /// Fills the arguments into a key, which often is the text in the developer's own language.
    private static func format(_ key: JSONValue?, _ arguments: JSONValue?) -> String? {
        guard let format = key?.nonEmptyString else { return nil }
        return LocalizedFormat.fill(format, with: arguments?.array?.compactMap(\.string) ?? [])
    }
}

extension Payload.Sound {
    /// Reads a sound, which is a name or an object; nil for an empty name and for any other type.
    fileprivate init?(_ value: JSONValue) {
        switch value {
        case .string(let name):
            guard !name.isEmpty else { return nil }
            self.init(name: Self.safeName(name))
        case .object:
            self.init(
                name: value["name"]?.string.flatMap(Self.safeName), isCritical: value["critical"]?.integer == 1,
                volume: value["volume"]?.double.flatMap { (0...1).contains($0) ? $0 : nil })
        case .null, .bool, .integer, .number, .array:
            return nil
        }
    }

    /// The name when it is one that is looked up; nil, the standard sound, for `default` and for anything like a path.
    private static func safeName(_ name: String) -> String? {
        let bytes = name.utf8
        guard (1...64).contains(bytes.count), name != "default", bytes.first?.isLetterOrDigit == true else {
            return nil
        }
        let isSafe = bytes.allSatisfy { byte in
            byte.isLetterOrDigit || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
                || byte == UInt8(ascii: "-")
        }
        return isSafe ? name : nil
    }
}

extension JSONValue {
    /// The text of a string that is not empty; nil for any other value.
    fileprivate var nonEmptyString: String? {
        guard let text = string, !text.isEmpty else { return nil }
        return text
    }
}
