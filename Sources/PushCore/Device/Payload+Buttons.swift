// SPDX-License-Identifier: Apache-2.0

extension Payload {
    /// The member of a payload, beside `aps`, that contains the buttons of the notification.
    ///
    /// The name has a prefix, because an app may use any other name for data of its own.
    package static let buttonsKey = "posthorn-actions"

    /// A button that a notification brings with it.
    package struct Button: Sendable, Equatable {
        /// The effect of the button.
        package enum Effect: Sendable, Equatable {
            /// Opens an address.
            case open(NotificationLink)
            case request(ButtonRequest)
        }

        package var title: String
        package var effect: Effect

        package init(title: String, effect: Effect) {
            self.title = title
            self.effect = effect
        }
    }

    /// A request over https that the device sends when the user chooses a button.
    package struct ButtonRequest: Sendable, Equatable {
        package var link: NotificationLink
        package var method: String
        package var fields: [(name: String, value: String)]
        package var body: String

        package static func == (one: ButtonRequest, other: ButtonRequest) -> Bool {
            one.link == other.link && one.method == other.method && one.body == other.body
                && one.fields.elementsEqual(other.fields) { $0 == $1 }
        }
    }

    private static let methods: Set<String> = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    /// Fields that belong to the connection or to the client.
    private static let forbiddenFields: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect", "cookie",
        "proxy-authorization", "proxy-connection", "keep-alive", "user-agent",
    ]

    /// Reads the buttons; those that are not accepted are left out.
    ///
    /// - Parameter value: The value of `buttonsKey`.
    /// - Returns: The buttons, and whether any was left out.
    package static func buttons(_ value: JSONValue?) -> (buttons: [Button], isIncomplete: Bool) {
        guard let value, !value.isNull else { return ([], false) }
        guard let elements = value.array else { return ([], true) }
        let buttons = elements.prefix(Limits.messageButtonCountMax).compactMap(button)
        return (buttons, buttons.count < elements.count)
    }

    private static func button(_ value: JSONValue) -> Button? {
        guard let title = value["title"]?.nonEmptyString, title.utf8.count <= Limits.buttonTitleByteCountMax else {
            return nil
        }
        if let address = value["url"] {
            guard let link = try? NotificationLink(address), link.isSecureWeb else { return nil }
            return Button(title: title, effect: .open(link))
        }
        guard let request = value["request"], let address = request["url"], let link = try? NotificationLink(address),
            link.isSecureWeb, let fields = fields(request["headers"])
        else { return nil }
        let method = request["method"]?.string?.uppercased() ?? "POST"
        guard methods.contains(method) else { return nil }
        return Button(
            title: title,
            effect: .request(
                ButtonRequest(link: link, method: method, fields: fields, body: request["body"]?.string ?? "")))
    }

    /// Returns the header fields; nil if one is not accepted.
    private static func fields(_ value: JSONValue?) -> [(name: String, value: String)]? {
        guard let value, !value.isNull else { return [] }
        guard let members = value.members, members.count <= Limits.buttonFieldCountMax else { return nil }
        var fields: [(name: String, value: String)] = []
        for member in members {
            let name = member.key.lowercased()
            // Outside ASCII, other letters can become ASCII letters in lower case.
            guard let text = member.value.string, isToken(member.key), !forbiddenFields.contains(name),
                text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
            else { return nil }
            fields.append((name, text))
        }
        return fields
    }

    /// Returns whether a text is a field name.
    ///
    /// - SeeAlso: RFC 9110, section 5.6.2
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0.isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains($0) }
    }
}
