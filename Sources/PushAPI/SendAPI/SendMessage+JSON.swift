// SPDX-License-Identifier: Apache-2.0

internal import PushCore

extension SendMessage {
    /// The members of a request of `POST /v1/send/APP`.
    private enum Member: String, CaseIterable {
        case title, subtitle, body, level, sound, badge, url, actions, devices, channel, payload
        case threadID = "thread_id"
        case category
        case collapseID = "collapse_id"
        case expiresIn = "expires_in"
    }

    /// Reads the body of `POST /v1/send/APP`.
    ///
    /// - Parameter bytes: A JSON object.
    /// - Throws: The first member that is unknown or has a value of another type.
    package init(json bytes: [UInt8]) throws(SendDefect) {
        self.init()
        let members: [JSONValue.Member]
        do throws(JSONError) {
            try JSONValidator.validateObject(bytes.span)
            members = try JSONValue(parsing: bytes.span).members ?? []
        } catch {
            throw SendDefect("The body is not a JSON object. At byte \(error.offset): \(error.problem.sentence)")
        }
        try self.read(members, in: bytes)
    }

    /// Reads a text, with the other members as parameters of a query: numbers as digits, and `device` for each device.
    ///
    /// - Parameters:
    ///   - text: The body of the notification.
    ///   - query: The other members.
    /// - Throws: The first parameter that is unknown or has an invalid value.
    package init(text: String, _ query: FormFields) throws(SendDefect) {
        self.init()
        var members: [JSONValue.Member] = text.isEmpty ? [] : [.init(key: "body", value: .string(text))]
        var devices: [JSONValue] = []
        for field in query.fields {
            switch field.name {
            case "device": devices.append(.string(field.value))
            case "badge", "expires_in":
                let number = Int64(field.value).map { JSONValue.integer($0) } ?? .string(field.value)
                members.append(.init(key: field.name, value: number))
            case "payload", "actions", "devices":
                throw SendDefect("\(field.name) requires a body in JSON, with content-type application/json.")
            // The token, which the endpoint has read.
            case "token", "auth": break
            default: members.append(.init(key: field.name, value: .string(field.value)))
            }
        }
        if !devices.isEmpty { members.append(.init(key: "devices", value: .array(devices))) }
        try read(members, in: [])
    }

    private mutating func read(_ members: [JSONValue.Member], in bytes: [UInt8]) throws(SendDefect) {
        var others: [String] = []
        for member in members {
            guard let known = Member(rawValue: member.key) else { throw Self.unknown(member.key) }
            if known == .payload {
                guard member.value.members != nil,
                    let range = try? JSONValue.rawRange(of: member.key, in: bytes.span)
                else { throw SendDefect("payload must be an object: a complete APNs payload.") }
                wholePayload = Array(bytes[range])
            } else {
                if !Self.isDelivery(known) { others.append(member.key) }
                try read(known, member.value)
            }
        }
        guard wholePayload == nil || others.isEmpty else {
            throw SendDefect("payload cannot be combined with \(others.joined(separator: ", ")).")
        }
    }

    /// Returns whether a member says how to deliver a payload, and not what it contains.
    private static func isDelivery(_ member: Member) -> Bool {
        switch member {
        case .devices, .channel, .collapseID, .expiresIn, .payload: true
        default: false
        }
    }

    private static func unknown(_ name: String) -> SendDefect {
        let names = Member.allCases.map(\.rawValue)
        let hint = name == "message" ? "body" : Spelling.closest(to: name, among: names)
        return SendDefect(
            "Unknown member '\(name)'. "
                + (hint.map { "Did you mean '\($0)'?" } ?? "Known members: \(names.joined(separator: ", "))."))
    }

    private mutating func read(_ member: Member, _ value: JSONValue) throws(SendDefect) {
        switch member {
        case .title: title = try Self.text(member, value)
        case .subtitle: subtitle = try Self.text(member, value)
        case .body: body = try Self.text(member, value)
        case .category: category = try Self.text(member, value)
        case .threadID: threadID = try Self.text(member, value)
        case .url: link = try NotificationLink.text(of: value)
        case .sound:
            let name = try Self.text(member, value)
            if name == "none" { isSilent = true } else { sound = name }
        case .collapseID:
            let id = try Self.text(member, value)
            guard (1...Limits.collapseIDByteCountMax).contains(id.utf8.count) else {
                throw SendDefect("collapse_id must have 1 to \(Limits.collapseIDByteCountMax) bytes.")
            }
            collapseID = id
        case .level:
            guard let known = value.string.flatMap(Level.init(rawValue:)) else {
                throw SendDefect("level must be one of \(Level.allCases.map(\.rawValue).joined(separator: ", ")).")
            }
            level = known
        case .badge:
            guard let number = value.integer.flatMap(UInt32.init(exactly:)) else {
                throw SendDefect("badge must be a whole number, 0 or more.")
            }
            badge = number
        case .expiresIn:
            guard let seconds = value.integer, (0...Limits.retentionSecondsMax).contains(seconds) else {
                throw SendDefect("expires_in must be a number of seconds from 0 to \(Limits.retentionSecondsMax).")
            }
            lifeSeconds = seconds
        case .actions: buttons = try Self.buttons(value)
        case .devices:
            guard recipients == .all else { throw SendDefect("Name either devices or a channel.") }
            recipients = .devices(try Self.devices(value))
        case .channel:
            guard recipients == .all else { throw SendDefect("Name either devices or a channel.") }
            guard let id = value.string.flatMap({ ChannelID(text: $0.utf8.span) }) else {
                throw SendDefect("channel must be a channel ID. See 'posthorn channel list'.")
            }
            recipients = .channel(id)
        case .payload: break
        }
    }

    private static func text(_ member: Member, _ value: JSONValue) throws(SendDefect) -> String {
        guard let text = value.string else { throw SendDefect("\(member.rawValue) must be a string.") }
        return text
    }

    private static func devices(_ value: JSONValue) throws(SendDefect) -> [DeviceID] {
        let texts = (value.array ?? []).map(\.string)
        let devices = texts.compactMap { $0.flatMap { DeviceID(text: $0) } }
        guard !devices.isEmpty, devices.count == texts.count, devices.count <= Limits.sendNamedDeviceCountMax else {
            throw SendDefect(
                "devices must be an array of 1 to \(Limits.sendNamedDeviceCountMax) device IDs. See 'posthorn device list'."
            )
        }
        return devices
    }

    private static func buttons(_ value: JSONValue) throws(SendDefect) -> [Button] {
        guard let elements = value.array, elements.count <= Limits.messageButtonCountMax else {
            throw SendDefect("actions must be an array of at most \(Limits.messageButtonCountMax) objects.")
        }
        guard !Payload.buttons(value).isIncomplete else {
            throw SendDefect(
                "Each of actions must have a title, and a url with https or a request with such a url. A request has one of "
                    + "the methods GET, POST, PUT, PATCH and DELETE, and no fields of the connection.")
        }
        var buttons: [Button] = []
        for element in elements {
            guard let title = element["title"]?.string, !title.isEmpty else {
                throw SendDefect("Each of actions must have a title.")
            }
            if let url = element["url"]?.string {
                buttons.append(Button(title: title, effect: .open(url)))
            } else if let request = element["request"], let url = request["url"]?.string {
                var made = Button.Request(url: url, headers: request["headers"]?.members ?? [])
                made.method = request["method"]?.string ?? "POST"
                made.body = request["body"]?.string
                buttons.append(Button(title: title, effect: .request(made)))
            } else {
                throw SendDefect("Each of actions must have a url, or a request with a url.")
            }
        }
        return buttons
    }
}

extension NotificationLink {
    /// Reads the address that View opens.
    fileprivate static func text(of value: JSONValue) throws(SendDefect) -> String {
        do throws(Defect) { return try NotificationLink(value).text } catch {
            throw SendDefect("url: \(error.phrase).")
        }
    }
}
