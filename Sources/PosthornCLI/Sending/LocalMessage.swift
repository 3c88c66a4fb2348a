// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI
internal import PushCore

/// A message that the server on this machine sends for an administrator, without a key and a device token.
struct LocalMessage {
    /// The options of `posthorn send` that only a provider's request has.
    private static let providerOptions = [
        "file", "server", "ca-file", "key", "key-id", "team-id", "topic", "token", "push-type", "priority", "id",
        "lint",
        "force",
    ]

    let topic: TopicName
    /// The body of the request `POST /v1/send/TOPIC`.
    private var body: [UInt8] = []

    /// Reads the command line.
    ///
    /// - Parameter invocation: A command line with a topic as its first argument.
    /// - Throws: An error when an option is invalid, belongs to a provider's request, or there is nothing to send.
    init(_ invocation: Invocation) throws(CommandError) {
        topic = TopicName(invocation.arguments[0])
        try Self.checkOptions(invocation, topic)
        let text = invocation.arguments.dropFirst().first
        guard text == nil || invocation.value("body") == nil else {
            throw .usage(invocation.error(.contradiction("specify the text either as an argument or with --body")))
        }
        let texts = [
            ("title", invocation.value("title")), ("subtitle", invocation.value("subtitle")),
            ("body", text ?? invocation.value("body")), ("sound", invocation.value("sound")),
            ("category", invocation.value("category")), ("thread_id", invocation.value("thread-id")),
            ("level", invocation.value("level")), ("url", invocation.value("url")),
            ("collapse_id", invocation.value("collapse-id")), ("channel", invocation.value("channel")),
        ]
        var members = texts.compactMap { name, value in
            value.map { JSONValue.Member(key: name, value: .string($0)) }
        }
        do throws(UsageError) {
            if let badge = try invocation.integer("badge", in: 0...Int64(UInt32.max)) {
                members.append(.init(key: "badge", value: .integer(badge)))
            }
        } catch {
            throw .usage(error)
        }
        if let life = try Self.life(invocation) { members.append(.init(key: "expires_in", value: .integer(life))) }
        let devices = invocation.values("device")
        if !devices.isEmpty {
            members.append(.init(key: "devices", value: .array(devices.map { .string($0) })))
        }
        if let path = invocation.value("payload") { members.append(.init(key: "payload", value: try Self.json(path))) }
        JSONWriter.append(.object(members), to: &body)
        do throws(SendDefect) {
            guard try SendMessage(json: body).isEmpty else { return }
        } catch {
            throw .usage(invocation.error(.contradiction(Self.problem(error.text))))
        }
        throw .advised(
            .usage(invocation.error(.contradiction("nothing to send"))),
            remedy: "Specify a text, --title, --badge or --payload.")
    }

    /// The request to the admin API.
    var request: AdminRequest { AdminRequest.post(["send", topic.text], json: body) }

    /// Refuses options of a provider's request, and options that contradict each other.
    private static func checkOptions(_ invocation: Invocation, _ topic: TopicName) throws(CommandError) {
        if let option = providerOptions.first(where: invocation.has) {
            throw .advised(
                .usage(
                    invocation.error(
                        .contradiction("--\(option) cannot be combined with the argument TOPIC ('\(topic)')"))),
                remedy: "Remove --\(option). To send as a provider, use --topic and --body instead of TOPIC and TEXT.")
        }
        if invocation.has("device"), invocation.has("channel") {
            throw .usage(invocation.error(.contradiction("--device and --channel cannot be combined")))
        }
        if let wrong = invocation.values("device").first(where: { DeviceID(text: $0) == nil }) {
            throw .usage(
                invocation.error(
                    .badValue(of: "--device", value: wrong, expected: "use an ID from 'posthorn device list'")))
        }
    }

    // MARK: Errors

    /// Returns the error with an explanation instead of the name of the refusal.
    func explained(_ error: CommandError) -> CommandError {
        guard let refusal = error.refusal, case .adminRefused = error else { return error }
        switch RejectionReason(rawValue: refusal.error) {
        case .featureNotEnabled:
            return .advised(
                .reworded(error, problem: "app '\(topic)' does not allow broadcasts"),
                remedy: "Allow them with 'posthorn app set \(topic) --broadcasts on'.")
        case .channelNotRegistered:
            let problem = "app '\(topic)' does not have this channel; see 'posthorn channel list \(topic)'"
            return .reworded(error, problem: problem)
        case .payloadEmpty where refusal.detail.hasPrefix("E "):
            // The detail is a finding of the app's checks.
            let problem = "the payload has an error, and the checks of app '\(topic)' are strict"
            return .advised(.reworded(error, problem: problem), remedy: "Correct the payload: \(refusal.detail)")
        case .payloadEmpty, .payloadTooLarge:
            let sentences = refusal.detail.split(separator: ". ", maxSplits: 1)
            return .advised(
                .reworded(error, problem: Self.problem(String(sentences.first ?? ""))),
                remedy: sentences.count > 1 ? String(sentences[1]) : "")
        case .serviceUnavailable where refusal.detail == RejectionReason.serviceUnavailable.advice:
            return .advised(
                .reworded(error, problem: "the server could not store the notification in time"),
                remedy: "Try again later. If the store is in PostgreSQL, 'posthorn cluster status' shows the problem.")
        default: return error
        }
    }

    /// Converts a sentence about a message to the form of a problem, and replaces the name of a member with its option.
    private static func problem(_ sentence: String) -> String {
        let text = sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
        let word = text.prefix { !" :'".contains($0) }
        guard let option = optionNames[String(word)] else { return text.prefix(1).lowercased() + text.dropFirst() }
        return "--\(option)\(text.dropFirst(word.count))"
    }

    /// The options that set the members of a message, by the name of the member.
    private static let optionNames = [
        "channel": "channel", "collapse_id": "collapse-id", "expires_in": "expiration", "payload": "payload",
        "url": "url",
    ]

    /// Returns the time for which the server keeps the notification, in seconds.
    private static func life(_ invocation: Invocation) throws(CommandError) -> Int64? {
        guard let text = invocation.value("expiration") else { return nil }
        let digits = text.utf8.first == UInt8(ascii: "+") ? text.dropFirst() : text[...]
        guard let number = Int64(digits) else {
            throw .usage(
                invocation.error(
                    .badValue(of: "--expiration", value: text, expected: "use +SECONDS, UNIX seconds, or 0")))
        }
        return digits.count < text.count || number == 0 ? number : max(1, number - LocalTime.now.unixSeconds)
    }

    private static func json(_ path: String) throws(CommandError) -> JSONValue {
        let bytes = try LocalFile.readPayload(path)
        do throws(JSONError) {
            try JSONValidator.validateObject(bytes.span)
            return try JSONValue(parsing: bytes.span)
        } catch {
            throw .badFile(
                path: LocalFile.name(of: path),
                problem: "not a JSON object: at byte \(error.offset): \(error.problem.sentence)",
                remedy: "Check it with 'posthorn lint'.")
        }
    }

    /// Formats the server's answer.
    static func report(of result: SendAPI.Result) -> Report {
        let count = result.notifications.first?.deviceID == nil && result.accepted == 1 ? nil : result.accepted
        var fields = [
            (
                name: "Accepted",
                value: count.map { $0 == 1 ? "for 1 device" : "for \($0) devices" } ?? "for the channel"
            )
        ]
        if result.accepted == 0 { fields = [("Accepted", "for no device")] }
        fields.append(("ID", result.id))
        if let refused = result.refused {
            fields.append(("Refused", "for \(refused), last reason: \(oneLine(result.reason ?? "unknown"))"))
        }
        if let missing = result.unregistered {
            fields.append(("Not registered", missing.map { oneLine($0) }.joined(separator: " ")))
        }
        fields += (result.warnings ?? []).map { ("Warning", oneLine($0)) }
        fields += (result.ignored ?? []).map { ("Ignored", oneLine($0)) }
        if let detail = result.detail { fields.append(("Note", oneLine(detail))) }
        var report = Report(Table.fields(fields), json: result)
        if result.accepted == 0 { report.exitCode = .notFound }
        return report
    }
}
