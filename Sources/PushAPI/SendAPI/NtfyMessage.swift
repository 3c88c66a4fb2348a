// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// The names of the parameters of ntfy's publish API, in headers or in the query; the first of each is ours in
/// messages.
///
/// - SeeAlso: ntfy's documentation, "Publishing", "List of all parameters"
private enum NtfyParameter {
    static let message = ["x-message", "message", "m"]
    static let title = ["x-title", "title", "ti", "t"]
    static let priority = ["x-priority", "priority", "prio", "p"]
    static let tags = ["x-tags", "tags", "tag", "ta"]
    static let click = ["x-click", "click"]
    static let actions = ["x-actions", "actions", "action"]
    static let delay = ["x-delay", "delay", "x-at", "at", "x-in", "in"]
    static let sequence = ["x-sequence-id", "sequence-id", "sid"]
    static let attachment = ["x-attach", "attach", "a"]
    static let fileName = ["x-filename", "filename", "file", "f"]
    /// Parameters that have no effect here.
    ///
    /// An attachment without a text is an exception: it becomes the link.
    static let ignored = [
        attachment, fileName, ["x-icon", "icon"],
        ["x-markdown", "markdown", "md"], ["x-email", "email", "x-e-mail", "e-mail", "mail", "e"],
        ["x-call", "call"], ["x-template", "template", "tpl"], ["x-cache", "cache"],
        ["x-firebase", "firebase"], ["x-unifiedpush", "unifiedpush", "up"],
    ]
}

extension SendMessage {
    /// Reads a request of ntfy's publish API whose body is the message.
    ///
    /// - Parameters:
    ///   - body: The message in UTF-8; empty if a parameter contains it.
    ///   - parameters: The request's header fields and the parameters of its query.
    /// - Throws: A body or a parameter that cannot be used.
    package init(ntfy body: [UInt8], _ parameters: FormFields) throws(SendDefect) {
        self.init()
        guard let text = String(validating: body, as: UTF8.self) else {
            throw SendDefect("The message is not text in UTF-8. Files cannot be attached.")
        }
        self.body = text.isEmpty ? parameters.first(of: NtfyParameter.message).map(MIMEWords.decode) : text
        title = parameters.first(of: NtfyParameter.title).map(MIMEWords.decode)
        try setNtfyPriority(parameters.first(of: NtfyParameter.priority))
        try refuseDelay(parameters.first(of: NtfyParameter.delay))
        setTags((parameters.first(of: NtfyParameter.tags) ?? "").split(separator: ",").map { $0.trimmed })
        setClick(parameters.first(of: NtfyParameter.click))
        collapseID = parameters.first(of: NtfyParameter.sequence)
        if let actions = parameters.first(of: NtfyParameter.actions) {
            set(try NtfyActions.parse(MIMEWords.decode(actions)))
        }
        for names in NtfyParameter.ignored {
            guard let value = parameters.first(of: names) else { continue }
            // `Cache: no` and `Firebase: no` ask for what this server does anyway.
            if value.lowercased() != "no" || names[0] == "x-cache" { ignored.append(String(names[1])) }
        }
        finishNtfy(
            attachment: parameters.first(of: NtfyParameter.attachment),
            named: parameters.first(of: NtfyParameter.fileName))
    }

    /// Reads a JSON message of ntfy's publish API.
    ///
    /// - Parameter bytes: The body.
    /// - Returns: The message and its topic.
    /// - Throws: A body that is not such a message.
    package static func ntfy(json bytes: [UInt8]) throws(SendDefect) -> (topic: String, message: SendMessage) {
        guard let value = try? JSONValue(parsing: bytes.span), value.members != nil else {
            throw SendDefect("The body is not a JSON object.")
        }
        guard let topic = value["topic"]?.string, !topic.isEmpty else {
            throw SendDefect("The message has no topic: the topic of an app on this server.")
        }
        var message = SendMessage()
        message.body = value["message"]?.string
        message.title = value["title"]?.string
        try message.setNtfyPriority(value["priority"].flatMap { $0.string ?? $0.integer.map(String.init) })
        try message.refuseDelay(value["delay"]?.string)
        message.setTags((value["tags"]?.array ?? []).compactMap(\.string))
        message.setClick(value["click"]?.string)
        message.collapseID = value["sequence_id"]?.string
        if let actions = value["actions"]?.array { message.set(NtfyActions.read(actions)) }
        for name in ["attach", "filename", "icon", "markdown", "email", "call"] where value[name] != nil {
            message.ignored.append(name)
        }
        message.finishNtfy(attachment: value["attach"]?.string, named: value["filename"]?.string)
        return (topic, message)
    }

    private mutating func finishNtfy(attachment: String?, named name: String?) {
        // These are ntfy's texts for messages without a text.
        if isEmpty, let attachment, let file = name ?? attachment.split(separator: "/").last.map(String.init) {
            body = "You received a file: \(MIMEWords.decode(file))"
            if link == nil, (try? NotificationLink(attachment)) != nil {
                link = attachment
                ignored.removeAll { $0 == "attach" || $0 == "filename" }
            }
        } else if isEmpty {
            body = "triggered"
        }
        if let id = collapseID, !(1...Limits.collapseIDByteCountMax).contains(id.utf8.count) {
            collapseID = nil
            ignored.append("sequence-id")
        }
    }

    private mutating func setNtfyPriority(_ text: String?) throws(SendDefect) {
        guard let text, !text.isEmpty else { return }
        switch text.lowercased() {
        case "1", "min": (level, isSilent) = (.passive, true)
        case "2", "low": (level, isSilent) = (.passive, true)
        case "3", "default", "0": break
        case "4", "high": level = .active
        case "5", "max", "urgent": level = .timeSensitive
        default: throw SendDefect("Invalid priority '\(text)': use 1 to 5, or min, low, default, high, max.")
        }
    }

    private func refuseDelay(_ text: String?) throws(SendDefect) {
        guard let text, !text.isEmpty else { return }
        throw SendDefect("Scheduled delivery is not supported, so nothing was sent. Remove the delay.")
    }

    /// Puts emojis before the title, and other tags below the message, as ntfy's apps do.
    private mutating func setTags(_ tags: [String]) {
        let words = tags.filter { !$0.isEmpty }
        let emojis = words.compactMap { EmojiTag.emoji($0) }.joined(separator: " ")
        let others = words.filter { EmojiTag.emoji($0) == nil }
        if !emojis.isEmpty {
            if let text = title, !text.isEmpty {
                title = "\(emojis) \(text)"
            } else {
                body = [emojis, body].compactMap { $0 }.joined(separator: " ")
            }
        }
        if !others.isEmpty {
            body = [body, "Tags: \(others.joined(separator: ", "))"].compactMap { $0 }.joined(separator: "\n")
        }
    }

    private mutating func setClick(_ url: String?) {
        guard let url, !url.isEmpty else { return }
        setLink(url, name: "click")
    }

    /// Sets the link, unless devices would refuse it.
    mutating func setLink(_ url: String, name: String) {
        do throws(NotificationLink.Defect) {
            _ = try NotificationLink(url)
            link = url
        } catch {
            ignored.append("\(name): \(error.phrase)")
        }
    }

    private mutating func set(_ actions: (buttons: [Button], ignored: [String])) {
        buttons = Array(actions.buttons.prefix(Limits.messageButtonCountMax))
        ignored += actions.ignored
        if actions.buttons.count > buttons.count { ignored.append("actions after the third one") }
    }
}
