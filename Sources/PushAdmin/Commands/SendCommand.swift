// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushCurl
internal import PushTLS

/// `posthorn send`: sends a notification as a back-end does.
enum SendCommand {
    static let node = CommandNode(
        Command(
            "send", "Send a notification as a back-end does.",
            discussion: """
                Signs a provider token and posts the notification over HTTP/2, as any APNs library would. 'accepted' \
                means that the server keeps it until the device has it or it expires.

                Values may also come from a JSON file with the options' names (--file), where 'payload' is the payload \
                itself. The command line goes before the file, the file before the environment.

                With --channel it is a broadcast, for every device that subscribed to the channel: its push type is \
                liveactivity, its priority 10 and its expiration 0 (only devices that are connected) if left out, and \
                --id is apns-request-id.
                """,
            usages: [
                "--key FILE --topic TOPIC --token TOKEN [--title TEXT] [--body TEXT] [OPTIONS]",
                "--key FILE --topic TOPIC --channel ID [--title TEXT] [--body TEXT] [OPTIONS]",
                "--file FILE [OPTIONS]",
            ],
            options: [
                Option("file", short: "f", value: "FILE", "Take values from a JSON file.", values: .file),
                Option("lint", "Say what is wrong with the payload first; with an error, send nothing."),
                Option("force", "With --lint: send it all the same."),
            ] + SendOptions.table,
            examples: [
                Explanation(
                    "posthorn send -k AuthKey_ABC1234567.p8 -t org.example.Mail -d $TOKEN --title Hello --badge 1",
                    "An alert and a badge."),
                Explanation("posthorn send --file request.json --payload payload.json", "A payload of your own."),
                Explanation(
                    "posthorn send -k key.p8 -t org.example.News --channel $CHANNEL --title News --expiration +3600",
                    "A broadcast that its channel keeps for an hour."),
            ],
            environment: SendOptions.variables.map { Explanation($0.variable, "Stands for --\($0.option).") })
    ) { (invocation, surroundings) throws(CommandError) in
        let file = try invocation.value("file").map { path throws(CommandError) in try RequestFile(path: path) }
        let options = SendOptions(invocation, in: surroundings, file: file ?? .none)
        guard invocation.has("lint") || !invocation.has("force") else {
            throw .usage(invocation.error(.contradiction("--force means something with --lint only")))
        }
        // What is missing on the command line is told before anything is asked of a server.
        for name in ["key", "topic"] { _ = try options.required(name) }
        _ = try SendDestination(options)
        if !options.hasWholePayload { _ = try options.payload() }
        if let file = options.value("ca-file") { try LocalFile.checkCertificate(file) }
        let request = try request(options, admin: surroundings.admin(invocation))
        if invocation.has("lint") {
            let pushType = request.destination.pushType(options)
            try lint(request.payload, pushType: pushType, isForced: invocation.has("force"))
        }
        return SendResult(try exchange(request)).report
    }

    /// Says what is wrong with a payload, and stops when that is an error.
    private static func lint(_ payload: [UInt8], pushType: String, isForced: Bool) throws(CommandError) {
        let verdict = LintVerdict(
            [("payload", payload)], pushType: PushType(pushType.utf8.span), appName: nil, intervalSeconds: nil)
        Console.note(verdict.lines)
        guard verdict.errors > 0, !isForced else { return }
        throw .advised(
            .notSent("its payload has \(verdict.errors == 1 ? "an error" : "\(verdict.errors) errors")"),
            remedy: "Correct it, or send it all the same with --force.")
    }

    private static func request(_ options: SendOptions, admin: AdminClient) throws(CommandError) -> ProviderRequest {
        let keyFile = try options.required("key")
        let key = try ProviderTokenSigner.readKey(keyFile)
        let local = try localServer(options, admin: admin)
        guard let server = options.value("server") ?? local?.serverURL,
            let teamID = options.value("team-id") ?? local?.teamID
        else { throw options.missing(options.value("server") == nil ? "server" : "team-id") }
        let signer = ProviderTokenSigner(key: key, keyID: try options.keyID(keyFile: keyFile), teamID: teamID)
        let now = LocalTime.nowUnixSeconds
        return try ProviderRequest(
            options, server: server, caFile: authority(options, of: local),
            providerToken: try sign(signer, now: now, keyFile: keyFile), nowUnixSeconds: now)
    }

    private static func sign(
        _ signer: ProviderTokenSigner, now: Int64, keyFile: String
    ) throws(CommandError) -> String {
        do throws(TLSError) {
            return try signer.sign(issuedAtUnixSeconds: now)
        } catch {
            throw .badFile(path: keyFile, problem: "it cannot sign", remedy: "Make another key: posthorn key create")
        }
    }

    /// The authority to trust: as told, or the one of the server on this machine, unless its certificate is another's.
    private static func authority(_ options: SendOptions, of local: AdminAPI.Status?) -> String? {
        if let told = options.value("ca-file") { return told }
        guard options.value("server") == nil, let path = local?.caFile else { return nil }
        return LocalFile.exists(path) ? path : nil
    }

    /// Asks the server on this machine, if something is missing that it knows.
    private static func localServer(
        _ options: SendOptions, admin: AdminClient
    ) throws(CommandError) -> AdminAPI.Status? {
        guard options.value("server") != nil else { return try admin.send(.get("status"), for: AdminAPI.Status.self) }
        guard options.value("team-id") == nil else { return nil }
        // A server elsewhere needs none here: then the team id is what is missing.
        return try? admin.send(.get("status"), for: AdminAPI.Status.self)
    }

    private static func exchange(_ request: ProviderRequest) throws(CommandError) -> HTTPResponse {
        do throws(CurlError) {
            return try HTTPClient().send(request.httpRequest)
        } catch {
            switch error.kind {
            case .tls, .authorityFile, .certificateFile:
                throw .serverNotTrusted(url: request.server, text: error.message)
            case .resolve, .connect, .timeout, .interrupted:
                throw .serverUnreachable(url: request.server, text: error.message)
            case .other: throw .notSent(error.message)
            }
        }
    }
}
