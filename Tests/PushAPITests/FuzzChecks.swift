// SPDX-License-Identifier: Apache-2.0

@testable import PushAPI
@testable import PushCore

/// The invariants of each parser of untrusted bytes, for arbitrary input.
///
/// FuzzTesting compiles this file too. The fuzzer searches for bytes that violate an invariant, and `FailCaseTests`
/// replays those found earlier. Each check returns a description of the violation, or nil.
enum FuzzChecks {
    /// The checks by the names of their fuzz targets.
    static let all: [String: @Sendable ([UInt8]) -> String?] = [
        "json": json, "provider-token": providerToken, "event-stream": eventStream,
        "notification-event": notificationEvent, "payload": payload,
        "text-forms": textForms, "display-text": displayText, "certificate-scope": certificateScope,
        "header-values": headerValues, "device-token": deviceToken, "trace-event": traceEvent,
        "stream-message": streamMessage, "send-request": sendRequest,
    ]

    /// Checks that validator and parser agree, and that a tree survives writing and reading.
    @Sendable static func json(_ input: [UInt8]) -> String? {
        let failure = jsonFailure(input)
        guard let tree = try? JSONValue(parsing: input.span) else {
            return failure == nil ? "The tree refuses what the validator accepts." : nil
        }
        if failure != nil { return "The tree accepts what the validator refuses." }
        if String(validating: input, as: UTF8.self) == nil { return "It is not UTF-8." }
        let isObject = (try? JSONValidator.validateObject(input.span)) != nil
        if isObject != (tree.members != nil) { return "Validator and tree disagree on what an object is." }
        if isObject, (try? JSONValue.memberRanges(in: input.span))?.count != tree.members?.count {
            return "The ranges are not those of the members."
        }
        var text: [UInt8] = []
        JSONWriter.append(tree, to: &text)
        return (try? JSONValue(parsing: text.span)) == tree ? nil : "The written text is not read again."
    }

    /// Checks that trace events end within the bytes, and that writing them gives the same bytes.
    @Sendable static func traceEvent(_ input: [UInt8]) -> String? {
        var (offset, written) = (0, [UInt8]())
        while true {
            let before = offset
            guard let event = TraceEvent(input.span, at: &offset) else { break }
            if offset <= before || offset > input.count { return "The offset is not inside the bytes." }
            event.append(to: &written)
        }
        return written.elementsEqual(input[..<offset]) ? nil : "The parsed value is written in another form."
    }

    /// Checks that an accepted provider token is within every limit.
    @Sendable static func providerToken(_ input: [UInt8]) -> String? {
        if let range = ProviderToken.compactToken(inAuthorization: input.span) {
            if range.isEmpty || range.upperBound > input.count { return "The range is not inside the value." }
        }
        guard let token = ProviderToken(compact: input.span) else { return nil }
        let identifiers = [token.keyID, token.teamID]
        if identifiers.contains(where: { $0.utf8.count != 10 }) { return "An identifier has not ten bytes." }
        if !(.unixEpoch...HeaderValues.expirationMax).contains(token.issuedAt) { return "iat is out of range." }
        if token.signature.isEmpty { return "There is no signature." }
        let isDot = input.indices.contains(token.signedByteCount) && input[token.signedByteCount] == UInt8(ascii: ".")
        return isDot ? nil : "The signed bytes do not end before a dot."
    }

    /// Checks that a stream's events do not depend on where it is split.
    ///
    /// - Parameter input: The bytes, of which the first one selects the split.
    /// - Returns: The violation, or nil.
    @Sendable static func eventStream(_ input: [UInt8]) -> String? {
        let stream = Array(input.dropFirst())
        let place = min(Int(input.first ?? 0), stream.count)
        let whole = events(in: [stream])
        let parts = events(in: [Array(stream[..<place]), Array(stream[place...])])
        return whole == parts ? nil : "Cut at \(place) the stream gives something else."
    }

    /// Checks that a notification survives writing and reading.
    @Sendable static func notificationEvent(_ input: [UInt8]) -> String? {
        guard let received = try? NotificationEvent.decode(data: input) else { return nil }
        guard (try? JSONValidator.validateObject(received.payload.span)) != nil else { return nil }
        let notification = Notification(
            address: DeviceTokenContents(device: DeviceID(rawValue: 0), topic: TopicID(rawValue: 1), generation: 0),
            apnsID: Array(received.apnsID.utf8), uniqueID: received.uniqueID, suffixedTopic: received.suffixedTopic,
            pushType: received.pushType, priority: received.priority,
            expiration: received.expiration, collapseID: received.collapseID,
            payload: received.payload, acceptedAt: received.acceptedAt)
        var output: [UInt8] = []
        NotificationEvent.append(
            PendingNotification(sequence: received.sequence, notification: notification), app: received.app, to: &output
        )
        guard case .success(let events) = events(in: [output]), events.count == 1,
            case .event(_, _, let data) = events[0]
        else { return "The written text is not one event." }
        return (try? NotificationEvent.decode(data: data)) == received ? nil : "The written text is not read again."
    }

    /// Checks that exactly JSON objects are accepted, that an alert has text, and that a sound's name is not a path.
    @Sendable static func payload(_ input: [UInt8]) -> String? {
        let isObject = (try? JSONValidator.validateObject(input.span)) != nil
        guard let payload = try? Payload(parsing: input.span) else { return isObject ? "An object is refused." : nil }
        if !isObject { return "Something else than an object is accepted." }
        if let alert = payload.alert {
            let texts = [alert.title, alert.subtitle, alert.body].compactMap(\.self)
            if texts.isEmpty || texts.contains("") { return "An alert says nothing." }
        }
        if let name = payload.sound?.name, name.utf8.count > 64 || name.utf8.contains(UInt8(ascii: "/")) {
            return "The name of a sound is like a path."
        }
        return nil
    }

    /// Checks that each decoded text encodes to the same text, up to case and padding.
    @Sendable static func textForms(_ input: [UInt8]) -> String? {
        let lowerCased = input.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
        if let bytes = Hex.decode(input.span), Array(Hex.string(bytes).utf8) != lowerCased { return "Hex differs." }
        if let id = UniqueID(input.span), Array(id.text.utf8) != lowerCased { return "A unique ID differs." }
        if let text = String(validating: input, as: UTF8.self), let id = DeviceID(text: text),
            Array(id.text.utf8) != input
        {
            return "A device ID differs."
        }
        if let bytes = Base64.decode(input.span), Base64.decode(Base64.encode(bytes.span).span) != bytes {
            return "Base64 differs."
        }
        if let type = PushType(input.span), Array(type.rawValue.utf8) != lowerCased { return "A push type differs." }
        if let number = Decimal.parse(input.span), Int64(String(decoding: input, as: UTF8.self)) != number {
            return "A decimal number differs."
        }
        if case .device(let range) = ProviderPath.parse(input.span), range.isEmpty || range.upperBound != input.count {
            return "A device token is not the end of its path."
        }
        return nil
    }

    /// Checks that displayed text has no scalar with an effect of its own.
    @Sendable static func displayText(_ input: [UInt8]) -> String? {
        let text = String(decoding: input, as: UTF8.self)
        let markup = DisplayText.markup(text)
        if markup.contains(where: { "<>".contains($0) }) { return "There is markup in markup." }
        for output in [DisplayText.plain(text), markup, DisplayText.terminal(text)] {
            for scalar in output.unicodeScalars where scalar.properties.generalCategory == .control {
                if scalar != "\n" && scalar != "\t" { return "A control character is left." }
            }
        }
        let terminal = DisplayText.terminal(text)
        return DisplayText.terminal(terminal) == terminal ? nil : "Text for a terminal is not safe at once."
    }

    private static func jsonFailure(_ input: [UInt8]) -> JSONError? {
        do throws(JSONError) {
            try JSONValidator.validate(input.span)
            return nil
        } catch {
            return error
        }
    }

    private static func events(in pieces: [[UInt8]]) -> Result<[EventStreamEvent], EventStreamError> {
        var parser = EventStreamParser()
        var events: [EventStreamEvent] = []
        do throws(EventStreamError) {
            for piece in pieces {
                try parser.receive(piece.span) { events.append($0) }
            }
            return .success(events)
        } catch {
            return .failure(error)
        }
    }
}

extension FuzzChecks {
    /// Checks that a scope allows the topics that it lists, and survives writing and reading.
    ///
    /// - Parameter input: The bytes. The first one selects which extension the rest is, and whether there is a UID.
    /// - Returns: The violation, or nil.
    @Sendable static func certificateScope(_ input: [UInt8]) -> String? {
        let choice = input.first ?? 0
        let content = Array(input.dropFirst())
        let identifier = choice & 1 == 0 ? CertificateExtension.topics : CertificateExtension.voip
        let userID = choice & 2 == 0 ? nil : "a.voip"
        guard let scope = try? CertificateScope(userID: userID, extensions: [identifier: content]) else { return nil }
        if scope.topics.isEmpty { return "It lists no topic." }
        for topic in scope.topics where !scope.allows(topic: Array(topic.utf8).span, pushType: nil) {
            return "It does not allow what it lists."
        }
        let written = Dictionary(uniqueKeysWithValues: scope.extensions.map { ($0.identifier, $0.content) })
        let read = try? CertificateScope(userID: scope.defaultTopic, extensions: written)
        return read == scope ? nil : "The written text is not read again."
    }
}
