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
    private(set) var members: [JSONValue.Member] = []

    /// Reads the command line.
    ///
    /// - Parameter invocation: A command line with a topic as its first argument.
    /// - Throws: An error when an option is invalid, belongs to a provider's request, or there is nothing to send.
    init(_ invocation: Invocation) throws(CommandError) {
        topic = TopicName(invocation.arguments[0])
        if let option = Self.providerOptions.first(where: invocation.has) {
            throw .usage(
                invocation.error(
                    .contradiction("--\(option) belongs to a provider's request; remove it, or use --topic \(topic)")))
        }
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
        members = texts.compactMap { name, value in value.map { .init(key: name, value: .string($0)) } }
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
        guard members.contains(where: { ["title", "body", "badge", "payload"].contains($0.key) }) else {
            throw .advised(
                .usage(invocation.error(.contradiction("nothing to send"))),
                remedy: "Specify a text, --title, --badge or --payload.")
        }
    }

    /// The request to the admin API.
    var request: AdminRequest {
        var body: [UInt8] = []
        JSONWriter.append(.object(members), to: &body)
        return AdminRequest.post(["send", topic.text], json: body)
    }

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
        let bytes: [UInt8]
        do throws(FileError) { bytes = try LocalFile.read(path) } catch { throw .file(error) }
        do throws(JSONError) {
            try JSONValidator.validateObject(bytes.span)
            return try JSONValue(parsing: bytes.span)
        } catch {
            throw .badFile(
                path: path, problem: "not a JSON object: at byte \(error.offset): \(error.problem.sentence)",
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
