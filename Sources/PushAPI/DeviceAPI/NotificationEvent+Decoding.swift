// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// The reason why the data of a `notification` event is invalid.
///
/// Log the error and acknowledge the event's ID; otherwise the server sends the event again.
package enum NotificationEventError: Error, Equatable, Sendable {
    /// The data is not a JSON object.
    case notJSON(JSONError)
    /// A required member is missing.
    case lacks(member: String)
    /// A member has the wrong type or is out of range.
    case malformed(member: String)
}

extension NotificationEvent {
    /// Decodes the data of an event; unknown members are ignored.
    ///
    /// - Parameter data: The event's data, without `data:` and line ending.
    /// - Returns: The notification; its payload is byte for byte the provider's.
    /// - Throws: `NotificationEventError`, when the data is invalid.
    package static func decode(data: [UInt8]) throws(NotificationEventError) -> ReceivedNotification {
        let members = try EventMembers(data)
        return ReceivedNotification(
            sequence: try members.require(Key.sequence, members.natural(Key.sequence)),
            uniqueID: try members.require(Key.uniqueID, members.uniqueID(Key.uniqueID)),
            suffixedTopic: try members.require(Key.suffixedTopic, members.string(Key.suffixedTopic)),
            app: try members.string(Key.app).map { TopicName($0) },
            apnsID: try members.require(Key.apnsID, members.string(Key.apnsID)),
            pushType: try members.pushType(Key.pushType),
            priority: try members.priority(Key.priority),
            expiration: try members.natural(Key.expiration).map(Timestamp.init(unixSeconds:)),
            collapseID: try members.collapseID(),
            acceptedAt: try Timestamp(
                unixMilliseconds: members.require(Key.acceptedAt, members.natural(Key.acceptedAt))),
            payload: try members.payload(),
            channel: try members.channel(Key.channel))
    }
}

/// Decodes the members of an event's object one by one.
private struct EventMembers {
    private let data: [UInt8]
    private let ranges: [(key: String, range: Range<Int>)]

    init(_ data: [UInt8]) throws(NotificationEventError) {
        self.data = data
        do {
            ranges = try JSONValue.memberRanges(in: data.span)
        } catch {
            throw .notJSON(error)
        }
    }

    /// Returns the bytes of a member's value; nil if the member is absent.
    private func bytes(_ key: String) -> [UInt8]? {
        ranges.last { $0.key.utf8.elementsEqual(key.utf8) }.map { Array(data[$0.range]) }
    }

    /// Returns a member's value; nil if the member is absent.
    private func value(_ key: String) throws(NotificationEventError) -> JSONValue? {
        guard let bytes = bytes(key) else { return nil }
        do {
            return try JSONValue(parsing: bytes.span)
        } catch {
            throw .notJSON(error)
        }
    }

    /// Returns the value of a required member.
    func require<Value>(_ key: String, _ value: Value?) throws(NotificationEventError) -> Value {
        guard let value else { throw .lacks(member: key) }
        return value
    }

    func string(_ key: String) throws(NotificationEventError) -> String? {
        guard let value = try value(key) else { return nil }
        guard let text = value.string else { throw .malformed(member: key) }
        return text
    }

    /// Returns a nonnegative integer.
    func natural(_ key: String) throws(NotificationEventError) -> Int64? {
        guard let value = try value(key) else { return nil }
        guard let number = value.integer, number >= 0 else { throw .malformed(member: key) }
        return number
    }

    func uniqueID(_ key: String) throws(NotificationEventError) -> UniqueID? {
        guard let text = try string(key) else { return nil }
        guard let id = UniqueID(text.utf8.span) else { throw .malformed(member: key) }
        return id
    }

    func channel(_ key: String) throws(NotificationEventError) -> ChannelID? {
        guard let text = try string(key) else { return nil }
        guard let id = ChannelID(text: text.utf8.span) else { throw .malformed(member: key) }
        return id
    }

    func pushType(_ key: String) throws(NotificationEventError) -> PushType? {
        guard let text = try string(key) else { return nil }
        guard let type = PushType(text.utf8.span) else { throw .malformed(member: key) }
        return type
    }

    func priority(_ key: String) throws(NotificationEventError) -> UInt8? {
        guard let number = try natural(key) else { return nil }
        guard number == 10 || number == 5 || number == 1 else { throw .malformed(member: key) }
        return UInt8(number)
    }

    func collapseID() throws(NotificationEventError) -> [UInt8]? {
        var id = try base64(NotificationEvent.Key.collapseIDBase64)
        if let text = try string(NotificationEvent.Key.collapseID) { id = Array(text.utf8) }
        guard let id else { return nil }
        guard HeaderValues.isCollapseID(id.span) else { throw .malformed(member: NotificationEvent.Key.collapseID) }
        return id
    }

    func payload() throws(NotificationEventError) -> [UInt8] {
        if let payload = bytes(NotificationEvent.Key.payload) { return payload }
        return try require(NotificationEvent.Key.payload, base64(NotificationEvent.Key.payloadBase64))
    }

    private func base64(_ key: String) throws(NotificationEventError) -> [UInt8]? {
        guard let text = try string(key) else { return nil }
        guard let bytes = Base64.decode(text.utf8.span) else { throw .malformed(member: key) }
        return bytes
    }
}
