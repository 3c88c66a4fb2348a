// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI

/// The command `posthorn authority`: rotates the authority that devices trust, and announces others.
enum AuthorityCommands {
    static let group = CommandNode(
        group: "authority", "Rotate the CA that devices trust, or announce another one.",
        discussion: """
            Devices trust the CAs that the server announces to them while it is connected with a certificate that they \
            already trust. So announce a new CA first, wait until the devices have confirmed it, and only then use its \
            certificate. A device that was not connected in the meantime needs 'posthorn agent trust CODE' once.
            """,
        children: [list, rotate, announce, remove], defaultChild: "list")

    private static let force = Option("force", "Continue even if devices are cut off.")

    private static let list = CommandNode(
        Command(
            "list", "List the CAs, their codes, and how many devices trust them.",
            options: [Option("pem", "Print the certificates instead, for providers.")])
    ) { (invocation, context) throws(CommandError) in
        let all = try context.admin(invocation).send(.get("authorities"), for: CredentialAPI.Authorities.self)
        guard invocation.has("pem") else { return report(of: all) }
        return Report(all.authorities.compactMap(\.certificate).joined(separator: "\n"), json: all)
    }

    private static let rotate = CommandNode(
        Command(
            "rotate", "Replace the server's own CA, in two steps.",
            discussion: """
                The first step creates the next CA and announces it to the devices. The second step, with --complete, issues \
                the server's certificate with the next CA. The server refuses the second step while a device does not trust \
                the next CA, unless --force is given. Connections stay open. Providers that trust the CA's file need the new \
                file before the second step: posthorn authority list --pem
                """,
            options: [Option("complete", "Use the next CA."), force, SharedOptions.yes],
            examples: [
                Explanation("posthorn authority rotate", "Announce the next CA."),
                Explanation("posthorn authority rotate --complete", "Use it, once all devices trust it."),
            ])
    ) { (invocation, context) throws(CommandError) in
        let isComplete = invocation.has("complete")
        guard isComplete || !invocation.has("force") else {
            throw .usage(invocation.error(.contradiction("--force requires --complete")))
        }
        if isComplete {
            try Console.confirm("Issue the server's certificate with the next CA?", unless: invocation.has("yes"))
        }
        let body = CredentialAPI.AuthorityChange(complete: isComplete, force: invocation.has("force"))
        return report(
            of: try context.admin(invocation).send(
                .post(["authorities", "rotation"], body), for: CredentialAPI.Authorities.self))
    }

    private static let announce = CommandNode(
        Command(
            "announce", "Announce another CA to the devices, before the server uses a certificate from it.",
            arguments: [Argument("FILE", "The certificates of the CA (PEM).", optional: true, values: .file)],
            options: [
                Option(
                    "system", "Announce the CAs of each device's operating system, for a certificate of a public CA."),
                Option("own", "Announce the server's own CA, to return to it from a configured certificate."),
            ],
            examples: [
                Explanation(
                    "posthorn authority announce /etc/ssl/corp-ca.pem", "Prepare a certificate of a private CA."),
                Explanation("posthorn authority announce --system", "Prepare a certificate of a public CA."),
            ])
    ) { (invocation, context) throws(CommandError) in
        let new = try newAuthority(invocation)
        let admin = context.admin(invocation)
        // The earlier list is only for the note, so an error of this request is ignored.
        let earlier = try? admin.send(.get("authorities"), for: CredentialAPI.Authorities.self)
        let all = try admin.send(.post("authorities", new), for: CredentialAPI.Authorities.self)
        if let earlier, earlier.announcedIDs == all.announcedIDs {
            Console.note(["Nothing changed: the server already announces this CA."])
        }
        return report(of: all)
    }

    private static let remove = CommandNode(
        Command(
            "remove", "Stop announcing a CA; devices drop it.",
            arguments: [Argument("ID", "The ID from 'posthorn authority list', or its first digits.")],
            options: [force, SharedOptions.yes])
    ) { (invocation, context) throws(CommandError) in
        let admin = context.admin(invocation)
        let all = try admin.send(.get("authorities"), for: CredentialAPI.Authorities.self)
        let id = try announcedID(invocation, among: all)
        try Console.confirm("Stop announcing \(oneLine(id))?", unless: invocation.has("yes"))
        let body = CredentialAPI.AuthorityChange(id: id, force: invocation.has("force"))
        return report(of: try admin.send(.post(["authorities", "removal"], body), for: CredentialAPI.Authorities.self))
    }

    /// Returns the complete ID of the announced CA whose ID begins with the argument.
    static func announcedID(
        _ invocation: Invocation, among all: CredentialAPI.Authorities
    ) throws(CommandError) -> String {
        let word = invocation.arguments[0]
        let found = all.announcedIDs.filter { !word.isEmpty && $0.utf8.starts(with: word.utf8) }
        guard let id = found.first, found.count == 1 else {
            let problem =
                found.isEmpty
                ? "no announced CA has the ID '\(word)'" : "several CAs have an ID that begins with '\(word)'"
            throw .usage(invocation.error(.contradiction("\(problem); see 'posthorn authority list'")))
        }
        return id
    }

    private static func newAuthority(_ invocation: Invocation) throws(CommandError) -> CredentialAPI.NewAuthority {
        let file = invocation.argument(0)
        guard [file != nil, invocation.has("system"), invocation.has("own")].count(where: { $0 }) == 1 else {
            throw .usage(invocation.error(.contradiction("specify one of FILE, --system and --own")))
        }
        if invocation.has("system") { return .init(role: .system) }
        guard let file else { return .init(role: .current) }
        let bytes: [UInt8]
        do throws(FileError) { bytes = try LocalFile.read(file) } catch { throw .file(error) }
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.contains(LocalFile.certificateHead) else {
            throw .badFile(
                path: file, problem: "not a PEM certificate",
                remedy: "Specify a PEM file with the certificates of the CA.")
        }
        return .init(role: .file, certificate: text)
    }

    /// Formats the output of the commands.
    static func report(of all: CredentialAPI.Authorities) -> Report {
        let table = Table(
            [.text("ID"), .text("ROLE"), .text("CODE"), .text("VALID UNTIL"), .text("IN USE"), .text("DEVICES")],
            rows: all.authorities.map { authority in
                [
                    String(authority.id.prefix(8)), authority.role.rawValue, authority.code ?? "-",
                    (authority.until ?? authority.expiresAt).map { LocalTime.text($0) } ?? "-",
                    authority.serving ? "yes" : "no", "\(authority.devices) of \(all.devices)",
                ]
            })
        var report = Report(table.text, json: all)
        if all.cutOff > 0 {
            report.complaint = (
                "\(all.cutOff) of \(all.devices) devices do not trust the server's certificate",
                "Run 'posthorn agent trust CODE' on each of them, with the code of the CA in use. You can also go back to "
                    + "the earlier certificate, if it came from a file, until they confirm the new CA."
            )
        }
        return report
    }
}

extension CredentialAPI.Authorities {
    /// The IDs of the CAs that the server announces to devices.
    fileprivate var announcedIDs: [String] { authorities.filter(\.announced).map(\.id) }
}
