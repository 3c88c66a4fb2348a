// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI
internal import PushCore
internal import PushCurl
internal import PushTLS

/// The command `posthorn send`: sends a text through the server on this machine, or a notification as a provider does.
enum SendCommand {
    static let node = CommandNode(
        Command(
            "send", "Send a notification.",
            discussion: """
                With a TOPIC and a TEXT, the server on this machine sends the text to all devices of the app, or to those of \
                --device or --channel. This requires no key and no device token, only the rights of an administrator.

                With --key, the command signs a provider token and sends the notification over HTTP/2, as an APNs library does. 'accepted' \
                means that the server is responsible for the notification until the device acknowledges it or it \
                expires.

                A JSON file (--file) can contain options under their names, and the payload itself under 'payload'. The \
                command line overrides the file, and the file overrides the environment.

                With --channel, the notification is a broadcast to all devices that subscribed to the channel. The \
                defaults are then push type liveactivity, priority 10 and expiration 0 (connected devices only), and \
                --id sets apns-request-id.
                """,
            usages: [
                "TOPIC [TEXT] [--title TEXT] [--device ID]... [OPTIONS]",
                "--key FILE --topic TOPIC --token TOKEN [--title TEXT] [--body TEXT] [OPTIONS]",
                "--key FILE --topic TOPIC --channel ID [--title TEXT] [--body TEXT] [OPTIONS]",
                "--file FILE [OPTIONS]",
            ],
            arguments: [
                Argument("TOPIC", "The app to which the server on this machine sends.", optional: true),
                Argument("TEXT", "The text of the notification.", optional: true),
            ],
            options: [
                Option("device", value: "ID", "With TOPIC: send only to this device.", repeatable: true),
                Option("subtitle", value: "TEXT", "With TOPIC: the alert's subtitle."),
                Option(
                    "level", value: "LEVEL", "With TOPIC: passive, active or time-sensitive. Default: active.",
                    values: .choice(SendMessage.Level.allCases.map(\.rawValue))),
                Option("url", value: "URL", "With TOPIC: the https address that View opens."),
                Option("file", short: "f", value: "FILE", "Read options from a JSON file.", values: .file),
                Option("lint", "Check the payload first; do not send it if it has errors."),
                Option("force", "With --lint: send the payload even if it has errors."),
            ] + SendOptions.table,
            examples: [
                Explanation("posthorn send org.example.Mail 'Lunch?'", "Send a text to all devices of an app."),
                Explanation(
                    "posthorn send -k AuthKey_ABC1234567.p8 -t org.example.Mail -d $TOKEN --title Hello --badge 1",
                    "Send an alert with a badge."),
                Explanation("posthorn send --file request.json --payload payload.json", "Send a complete payload."),
                Explanation(
                    "posthorn send -k key.p8 -t org.example.News --channel $CHANNEL --title News --expiration +3600",
                    "Send a broadcast that the channel stores for an hour."),
            ],
            environment: SendOptions.variables.map { Explanation($0.variable, "The default of --\($0.option).") })
    ) { (invocation, context) throws(CommandError) in
        if !invocation.arguments.isEmpty {
            return try send(try LocalMessage(invocation), context.admin(invocation))
        }
        if let option = ["device", "subtitle", "level", "url"].first(where: invocation.has) {
            throw .usage(invocation.error(.contradiction("--\(option) requires the app's topic as an argument")))
        }
        let file = try invocation.value("file").map { path throws(CommandError) in try RequestFile(path: path) }
        let options = SendOptions(invocation, in: context, file: file ?? .none)
        guard invocation.has("lint") || !invocation.has("force") else {
            throw .usage(invocation.error(.contradiction("--force requires --lint")))
        }
        // Missing options are reported before any request to a server.
        guard file != nil || ["key", "topic", "token", "channel"].contains(where: { options.value($0) != nil }) else {
            throw .advised(
                .usage(invocation.error(.missingArgument(placeholder: "TOPIC"))),
                remedy:
                    "Use: posthorn send TOPIC TEXT. To send as a provider, specify --key, --topic, and --token or --channel."
            )
        }
        for name in ["key", "topic"] { _ = try options.required(name) }
        _ = try SendDestination(options)
        if !options.hasWholePayload { _ = try options.payload() }
        if let file = options.value("ca-file") { try LocalFile.checkCertificate(file) }
        let request = try request(options, admin: context.admin(invocation))
        if invocation.has("lint") {
            let pushType = request.destination.pushType(options)
            try lint(request.payload, pushType: pushType, isForced: invocation.has("force"))
        }
        return SendResult(try exchange(request)).report
    }

    private static func send(_ message: LocalMessage, _ admin: AdminClient) throws(CommandError) -> Report {
        do throws(CommandError) {
            return LocalMessage.report(
                of: try admin.send(message.request, for: SendAPI.Result.self, about: [message.topic]))
        } catch {
            throw message.explained(error)
        }
    }

    /// Prints the payload's lint findings; throws if there is an error, unless `--force` is given.
    private static func lint(_ payload: [UInt8], pushType: String, isForced: Bool) throws(CommandError) {
        let lintReport = LintReport(
            [("payload", payload)], pushType: PushType(pushType.utf8.span), appName: nil, intervalSeconds: nil)
        Console.note(lintReport.lines)
        guard lintReport.errors > 0, !isForced else { return }
        throw .advised(
            .notSent("the payload has \(lintReport.errors == 1 ? "an error" : "\(lintReport.errors) errors")"),
            remedy: "Correct the payload, or send it with --force.")
    }

    private static func request(_ options: SendOptions, admin: AdminClient) throws(CommandError) -> NotificationRequest
    {
        let keyFile = try options.required("key")
        let key = try ProviderTokenSigner.readKey(keyFile)
        let local = try localServer(options, admin: admin)
        guard let server = options.value("server") ?? local?.serverURL,
            let teamID = options.value("team-id") ?? local?.teamID
        else { throw options.missing(options.value("server") == nil ? "server" : "team-id") }
        let signer = ProviderTokenSigner(key: key, keyID: try options.keyID(keyFile: keyFile), teamID: teamID)
        let now = LocalTime.now
        return try NotificationRequest(
            options, server: server, caFile: authority(options, of: local),
            providerToken: try sign(signer, now: now, keyFile: keyFile), now: now)
    }

    private static func sign(
        _ signer: ProviderTokenSigner, now: Timestamp, keyFile: String
    ) throws(CommandError) -> String {
        do throws(TLSError) {
            return try signer.sign(issuedAt: now)
        } catch {
            throw .badFile(
                path: keyFile, problem: "cannot sign with this key",
                remedy: "Create a new key with 'posthorn key create'.")
        }
    }

    /// Returns the CA file to trust: the given one, or the local server's if no other server is named.
    private static func authority(_ options: SendOptions, of local: AdminAPI.Status?) -> String? {
        if let told = options.value("ca-file") { return told }
        guard let local, let path = local.caFile, LocalFile.exists(path) else { return nil }
        guard let server = options.value("server") else { return path }
        return NotificationRequest.isSame(server, as: local.serverURL) ? path : nil
    }

    /// Asks the local server for its status if the server's URL, the team ID or the CA is missing.
    private static func localServer(
        _ options: SendOptions, admin: AdminClient
    ) throws(CommandError) -> AdminAPI.Status? {
        guard options.value("server") != nil else { return try admin.send(.get("status"), for: AdminAPI.Status.self) }
        guard options.value("team-id") == nil || options.value("ca-file") == nil else { return nil }
        // If another server is named, no local server needs to run. The missing team ID is then the error to report.
        return try? admin.send(.get("status"), for: AdminAPI.Status.self)
    }

    /// Returns the time at which the server's certificate expired; nil if it is still valid or cannot be read.
    private static func expiration(of request: NotificationRequest) -> Timestamp? {
        guard let certificate = try? HTTPClient().certificates(for: request.httpRequest).first,
            let seconds = try? CertificateAuthority.secondsUntilExpiry(certificate: certificate), seconds < 0
        else { return nil }
        return LocalTime.now.advanced(bySeconds: seconds)
    }

    private static func exchange(_ request: NotificationRequest) throws(CommandError) -> HTTPResponse {
        do throws(CurlError) {
            return try HTTPClient().send(request.httpRequest)
        } catch {
            switch error.kind {
            case .unknownAuthority, .tls, .authorityFile, .certificateFile:
                if error.kind == .tls, let end = expiration(of: request) {
                    throw .certificateExpired(at: end)
                }
                throw .serverNotTrusted(url: request.server, text: error.message)
            case .resolve, .resolveProxy, .connect, .proxyAuthentication, .proxyRefusal, .clientCertificateRequired,
                .clientCertificateRefused, .handshakeRefused, .timeout, .interrupted:
                throw .serverUnreachable(url: request.server, text: error.message)
            case .other: throw .notSent(error.message)
            }
        }
    }
}
