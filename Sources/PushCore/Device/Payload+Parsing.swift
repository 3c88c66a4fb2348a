// SPDX-License-Identifier: Apache-2.0

extension Payload {
    /// Parses a payload.
    ///
    /// - Parameters:
    ///   - bytes: The payload as the provider sent it, or as the app's filter changed it.
    ///   - namesFiles: Whether the payload may name a file of this device; false for everything that a provider chose.
    ///   - translation: Returns the app's own text for a key, with placeholders for arguments; nil for an unknown key.
    /// - Throws: `JSONError`, when the payload is not a JSON object; the server does not accept such payloads.
    package init(
        parsing bytes: Span<UInt8>, namesFiles: Bool = false, translation: (String) -> String? = { _ in nil }
    ) throws(JSONError) {
        try JSONValidator.validateObject(bytes)
        let payload = try JSONValue(parsing: bytes)
        self.init(payload["aps"] ?? .null, translation)
        (link, linkDefect) = Self.address(payload["url"])
        (buttons, lacksButtons) = Self.buttons(payload[Self.buttonsKey])
        (picture, pictureDefect) = Self.address(payload["attachment-url"])
        if picture?.isSecureWeb == false { (picture, pictureDefect) = (nil, .forbiddenScheme) }
        guard let path = payload[Self.picturePathKey], !path.isNull else { return }
        if !namesFiles {
            picturePathDefect = .sent
        } else if let text = path.string, text.utf8.first == UInt8(ascii: "/"), !text.utf8.contains(0) {
            picturePath = text
        } else {
            picturePathDefect = .notAbsolute
        }
    }

    private static let picturePathKey = "attachment-path"

    /// Returns whether a payload has a member for the path of a picture, of any type.
    package static func hasPicturePath(_ bytes: Span<UInt8>) -> Bool {
        guard let payload = try? JSONValue(parsing: bytes) else { return true }
        return payload[picturePathKey] != nil
    }

    private static func address(_ value: JSONValue?) -> (NotificationLink?, NotificationLink.Defect?) {
        guard let value, !value.isNull else { return (nil, nil) }
        do throws(NotificationLink.Defect) { return (try NotificationLink(value), nil) } catch { return (nil, error) }
    }

    /// Reads the members of the `aps` object.
    private init(_ aps: JSONValue, _ translation: (String) -> String?) {
        let badge = aps["badge"].flatMap { $0.isNull ? nil : $0 }
        let count = badge?.integer.flatMap(UInt32.init(exactly:))
        self.init(
            alert: aps["alert"].flatMap { PayloadAlertReader(alert: $0, translation: translation)?.alert },
            badge: count, hasUnreadableBadge: badge != nil && count == nil,
            // In Live Activities the sound is a member of the alert.
            sound: (aps["sound"] ?? aps["alert"]?["sound"]).flatMap(Sound.init),
            category: aps["category"]?.nonEmptyString, threadID: aps["thread-id"]?.nonEmptyString,
            isContentAvailable: aps["content-available"]?.integer == 1,
            isMutable: aps["mutable-content"]?.integer == 1,
            interruptionLevel: aps["interruption-level"]?.string.flatMap(InterruptionLevel.init) ?? .active)
    }
}

extension Payload.Sound {
    /// Reads a sound, which is a name or an object; returns nil for an empty name and for any other type.
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

    /// Returns the name if it is safe to look up; nil, the default sound, for `default` and for any path-like text.
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
    /// The text of a nonempty string; nil for any other value.
    var nonEmptyString: String? {
        guard let text = string, !text.isEmpty else { return nil }
        return text
    }
}
