// SPDX-License-Identifier: Apache-2.0

internal import PushCore

extension SendMessage {
    /// Reads a JSON message of Gotify's `POST /message`.
    ///
    /// - Parameter bytes: The body.
    /// - Returns: The message and its priority.
    /// - Throws: A body that is not such a message.
    ///
    /// - SeeAlso: Gotify's API documentation, "message"
    package static func gotify(json bytes: [UInt8]) throws(SendDefect) -> (message: SendMessage, priority: Int64) {
        guard let value = try? JSONValue(parsing: bytes.span), value.members != nil else {
            throw SendDefect("The body is not a JSON object.")
        }
        let extras = value["extras"]
        var (message, priority) = try gotify(
            title: value["title"]?.string, body: value["message"]?.string, priority: value["priority"]?.integer)
        for extra in extras?.members ?? [] {
            switch extra.key {
            case "client::notification":
                if let url = extra.value["click"]?["url"]?.string { message.setLink(url, name: "click") }
                for other in extra.value.members ?? [] where other.key != "click" { message.ignored.append(other.key) }
            case "client::display":
                if extra.value["contentType"]?.string == "text/markdown" { message.ignored.append("markdown") }
            default: message.ignored.append(extra.key)
            }
        }
        return (message, priority)
    }

    /// Reads a form of Gotify's `POST /message`.
    package static func gotify(_ form: FormFields) throws(SendDefect) -> (message: SendMessage, priority: Int64) {
        let priority = form["priority"]
        guard priority == nil || Int64(priority ?? "") != nil else { throw SendDefect("priority must be a number.") }
        return try gotify(title: form["title"], body: form["message"], priority: priority.flatMap { Int64($0) })
    }

    private static func gotify(
        title: String?, body: String?, priority: Int64?
    ) throws(SendDefect) -> (message: SendMessage, priority: Int64) {
        guard let body, !body.isEmpty else { throw SendDefect("The message has no text: set message.") }
        var message = SendMessage()
        message.title = title
        message.body = body
        // Gotify's apps make no sound below 4, and open a pop-up from 8.
        let priority = priority ?? 5
        switch priority {
        case ..<4: (message.level, message.isSilent) = (.passive, true)
        case 8...: message.level = .timeSensitive
        default: break
        }
        return (message, priority)
    }
}
