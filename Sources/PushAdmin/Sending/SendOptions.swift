// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import PushCore

/// What `posthorn send` was told: by options, by a request file, by the environment; the first that says wins.
package struct SendOptions: Sendable {
    /// Options that a request file may hold too, under the same names.
    static let table: OptionTable = [
        Option("server", value: "URL", "The server; the one on this machine if left out."),
        Option(
            "ca-file", value: "FILE",
            "The server's authority, PEM; if left out, the system's, or the local server's own.", values: .file),
        Option("key", short: "k", value: "FILE", "The signing key, a .p8 file.", values: .file),
        Option("key-id", value: "KEYID", "Its key id; taken from the file name AuthKey_KEYID.p8 if left out."),
        Option("team-id", value: "TEAM", "The team id; that of the server on this machine if left out."),
        Option("topic", short: "t", value: "TOPIC", "The app's topic (apns-topic)."),
        Option("token", short: "d", value: "TOKEN", "The device token."),
        Option("channel", value: "ID", "The channel of a broadcast, instead of --token."),
        Option("title", value: "TEXT", "The alert's title."),
        Option("body", short: "b", value: "TEXT", "The alert's text."),
        Option("badge", value: "COUNT", "The number on the app's icon; 0 removes it."),
        Option("sound", value: "NAME", "The sound, for example default."),
        Option("category", value: "NAME", "The event type (category)."),
        Option("thread-id", value: "ID", "Groups notifications."),
        Option(
            "push-type", value: "TYPE", "apns-push-type; alert if left out.",
            values: .suggestions(PushType.allCases.map(\.rawValue))),
        Option("priority", value: "NUMBER", "apns-priority: 10, 5 or 1.", values: .suggestions(["10", "5", "1"])),
        Option("expiration", value: "TIME", "apns-expiration: UNIX seconds, 0 for now or never, +SECONDS from now."),
        Option("collapse-id", value: "ID", "A newer notification with this id replaces the older one."),
        Option("id", value: "UUID", "apns-id; the server makes one if left out."),
        Option(
            "payload", short: "p", value: "FILE", "The whole payload, JSON, sent byte for byte; - for standard input.",
            values: .file),
    ]

    /// Environment variables and the options that they stand for.
    static let variables = [
        (variable: "POSTHORN_SERVER", option: "server"), (variable: "POSTHORN_CA_FILE", option: "ca-file"),
        (variable: "POSTHORN_KEY", option: "key"), (variable: "POSTHORN_KEY_ID", option: "key-id"),
        (variable: "POSTHORN_TEAM_ID", option: "team-id"),
    ]

    private let invocation: Invocation
    private let surroundings: Surroundings
    private let file: RequestFile

    /// Joins what was told.
    ///
    /// - Parameters:
    ///   - invocation: The command line.
    ///   - surroundings: The environment.
    ///   - file: The request file; empty for none.
    package init(_ invocation: Invocation, in surroundings: Surroundings, file: RequestFile) {
        self.invocation = invocation
        self.surroundings = surroundings
        self.file = file
    }

    /// What was said for an option; nil for nothing.
    package func value(_ name: String) -> String? {
        if let value = invocation.value(name) ?? file[name] { return value }
        let variable = Self.variables.first { $0.option == name }?.variable
        return variable.flatMap { surroundings.variable($0) }
    }

    /// The key id: as given for this key, else as the key file's name says, else from the environment.
    ///
    /// - Parameter keyFile: The signing key's file.
    /// - Returns: The key id.
    /// - Throws: When nothing says it.
    package func keyID(keyFile: String) throws(CommandError) -> String {
        if let given = invocation.value("key-id") ?? file["key-id"] { return given }
        if let named = ProviderTokenSigner.keyID(fromFileName: keyFile) { return named }
        guard let known = value("key-id") else {
            throw .advised(
                missing("key-id"), remedy: "Give it, or name the file AuthKey_KEYID.p8; see 'posthorn key list'.")
        }
        return known
    }

    /// What was said for an option that must be there.
    ///
    /// - Parameter name: The option.
    /// - Returns: Its value.
    /// - Throws: When nothing was said.
    package func required(_ name: String) throws(CommandError) -> String {
        guard let value = value(name) else { throw missing(name) }
        return value
    }

    /// The error that says that an option is missing.
    package func missing(_ name: String) -> CommandError {
        .usage(invocation.error(.missingArgument(placeholder: "--\(name)")))
    }

    /// The error that says that options do not go together.
    package func contradiction(_ text: String) -> CommandError { .usage(invocation.error(.contradiction(text))) }

    /// Whether the payload is given whole, perhaps on standard input.
    package var hasWholePayload: Bool { invocation.value("payload") != nil || file.payload != nil }

    /// The payload: given whole, or made from the options.
    ///
    /// - Returns: JSON.
    /// - Throws: When both ways are mixed, a file cannot be read, the badge is no number, or nothing was said.
    package func payload() throws(CommandError) -> [UInt8] {
        let parts = ["title", "body", "badge", "sound", "category", "thread-id"].filter { value($0) != nil }
        let path = invocation.value("payload")
        guard path != nil || (file.payload != nil && parts.isEmpty) else {
            if file.payload != nil { throw contradiction("payload", parts) }
            return try madePayload()
        }
        guard parts.isEmpty else { throw contradiction("payload", parts) }
        guard let path else { return file.payload ?? [] }
        do throws(FileError) { return try LocalFile.read(path) } catch { throw .file(error) }
    }

    /// `apns-expiration` as it is sent: `+SECONDS` counted from now.
    ///
    /// - Parameter nowUnixSeconds: Now.
    /// - Returns: The value; nil when nothing was said.
    /// - Throws: When what follows the plus sign is no number.
    package func expiration(nowUnixSeconds: Int64) throws(CommandError) -> String? {
        guard let text = value("expiration"), text.utf8.first == UInt8(ascii: "+") else { return value("expiration") }
        let (sum, overflow) = nowUnixSeconds.addingReportingOverflow(Int64(text) ?? .max)
        guard !overflow else { throw badValue("expiration", text, "a number of seconds behind the plus sign") }
        return "\(sum)"
    }

    private func madePayload() throws(CommandError) -> [UInt8] {
        var payload = Payload()
        payload.aps.badge = try badge()
        payload.aps.sound = value("sound")
        payload.aps.category = value("category")
        payload.aps.threadID = value("thread-id")
        if value("title") != nil || value("body") != nil {
            payload.aps.alert = Payload.Alert(title: value("title"), body: value("body"))
        }
        if value("push-type") == "background" { payload.aps.contentAvailable = 1 }
        guard payload.aps.doesSomething else {
            throw .advised(
                .usage(invocation.error(.contradiction("there is nothing to show, to play or to wake an app for"))),
                remedy: "Add --title, --body, --badge or --sound, a whole --payload, or --push-type background.")
        }
        return JSONText.encodeKnown(payload)
    }

    private func badge() throws(CommandError) -> Int64? {
        guard let text = value("badge") else { return nil }
        guard let number = Int64(text), number >= 0 else { throw badValue("badge", text, "a whole number, 0 or more") }
        return number
    }

    private func badValue(_ name: String, _ value: String, _ expected: String) -> CommandError {
        .usage(invocation.error(.badValue(of: "--\(name)", value: value, expected: expected)))
    }

    private func contradiction(_ whole: String, _ parts: [String]) -> CommandError {
        let names = parts.map { "--\($0)" }.joined(separator: ", ")
        return .usage(invocation.error(.contradiction("--\(whole) is the whole payload; leave \(names) out")))
    }
}

/// The payload that options describe.
private struct Payload: Encodable {
    struct Alert: Encodable {
        var title: String?
        var body: String?
    }

    struct Dictionary: Encodable {
        var alert: Alert?
        var badge: Int64?
        var sound: String?
        var category: String?
        var threadID: String?
        var contentAvailable: Int?

        var doesSomething: Bool { alert != nil || badge != nil || sound != nil || contentAvailable != nil }

        private enum CodingKeys: String, CodingKey {
            case alert, badge, sound, category
            case threadID = "thread-id"
            case contentAvailable = "content-available"
        }
    }

    var aps = Dictionary()
}
