// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI
internal import PushCore

/// The command `posthorn certificate`: manages client certificates of providers that do not use provider tokens.
enum CertificateCommands {
    static let group = CommandNode(
        group: "certificate", "Manage the client certificates of back-ends.",
        discussion: """
            For back-ends whose library authenticates with a client certificate. Prefer a signing key ('posthorn key \
            create') where possible, because it does not expire. Certificates are signed by the server's own CA, \
            authority.pem in its data directory.
            """,
        children: [issue, list, revoke], defaultChild: "list")

    private static let issue = CommandNode(
        Command(
            "issue", "Issue a certificate for an app.",
            discussion: """
                Writes the certificate and its private key to the PEM file CERT_TOPIC.pem, readable by its owner only. \
                With --p12 it writes a PKCS#12 file instead, and with --p12 and --output both. The server does not keep \
                the private key. If the file is lost, issue a new certificate.

                The kind determines what the certificate can send. single: alerts, background updates, and \
                notifications to file providers, widgets and controls; requests may omit the topic. universal: alerts, \
                background updates, VoIP, complications and push to talk; requests must include the topic. voip: VoIP \
                only. Location and Live Activities require a signing key.
                """,
            arguments: [Argument("TOPIC", "The app's topic, for example org.example.Mail.")], options: issueOptions,
            examples: [
                Explanation(
                    "posthorn certificate issue org.example.Mail",
                    "Write CERT_org.example.Mail.pem, valid for one year."),
                Explanation(
                    "posthorn certificate issue org.example.Mail --p12 mail.p12",
                    "Write a PKCS#12 file with a prompted or generated password."),
            ])
    ) { (invocation, context) throws(CommandError) in
        try issue(invocation, client: context.admin(invocation))
    }

    private static let issueOptions: OptionTable = [
        Option(
            "kind", short: "k", value: "KIND", "single, universal or voip. Default: single.",
            values: .choice(CredentialAPI.NewCertificate.Kind.allCases.map(\.rawValue))),
        Option(
            "environment", short: "e", value: "NAME", "production or development. Default: both.",
            values: .choice(Environment.allCases.map(\.rawValue))),
        Option(
            "days", value: "N",
            "The validity in days, at most \(Limits.certificateDayCountMax). "
                + "Default: \(CredentialAPI.NewCertificate.daysUsual)."),
        Option(
            "output", short: "o", value: "FILE", "The PEM file to write, or its directory.", values: .file),
        Option("p12", value: "FILE", "The PKCS#12 file to write, or its directory.", values: .file),
        Option(
            "password-file", value: "FILE",
            "Read the PKCS#12 password from the first line of FILE. Default: prompt for it, or generate and print it.",
            values: .file),
    ]

    private static let list = CommandNode(
        Command("list", "List certificates, including revoked ones of other CAs.")
    ) { (invocation, context) throws(CommandError) in
        let certificates = try context.admin(invocation).send(
            .get("certificates"), for: CredentialAPI.Certificates.self)
        return report(of: certificates, now: LocalTime.now)
    }

    private static func issue(_ invocation: Invocation, client: AdminClient) throws(CommandError) -> Report {
        let request = try issueRequest(invocation)
        // The paths and the password are checked first, so that the server issues no certificate that cannot be saved.
        let files = try CertificateFiles(invocation)
        let password = try files.password(invocation)
        let topic = TopicName(invocation.arguments[0])
        let certificate = try client.send(request, for: CredentialAPI.Certificate.self, about: [topic])
        do throws(CommandError) {
            try files.write(certificate, named: topic.text, password: password?.text)
        } catch {
            // The private key is lost, so the certificate must not stay valid.
            try? client.send(.delete("certificates", certificate.fingerprint))
            throw error
        }
        return report(of: certificate, files: files, password: password)
    }

    /// Builds the request of `certificate issue`.
    ///
    /// - Parameter invocation: The command line, with the topic and the certificate's options.
    /// - Returns: The request.
    /// - Throws: An error when the number of days is invalid.
    static func issueRequest(_ invocation: Invocation) throws(CommandError) -> AdminRequest {
        let days: Int64?
        do throws(UsageError) {
            days = try invocation.integer("days", in: 1...Int64(Limits.certificateDayCountMax))
        } catch {
            throw .usage(error)
        }
        return .post(
            "certificates",
            CredentialAPI.NewCertificate(
                topic: TopicName(invocation.arguments[0]),
                kind: invocation.value("kind").flatMap(CredentialAPI.NewCertificate.Kind.init),
                environment: invocation.value("environment").flatMap(Environment.init), days: days.map(Int.init)))
    }

    /// Formats the output of `certificate issue`; never prints the private key, and only a generated password.
    static func report(
        of certificate: CredentialAPI.Certificate, files: CertificateFiles, password: CertificateFiles.Password?
    ) -> Report {
        var fields = [
            ("Fingerprint", certificate.fingerprint), ("Serial number", certificate.serialNumber),
            ("Team ID", certificate.teamID), ("Topics", certificate.topics.joined(separator: ", ")),
            ("Environment", environment(of: certificate)),
            ("Expires", LocalTime.text(certificate.expiresAt)),
        ]
        if let path = files.pem { fields.append(("File", path)) }
        if let path = files.p12 { fields.append(("PKCS#12 file", path)) }
        let shown = password.flatMap { $0.isMade ? $0.text : nil }
        if let shown { fields.append(("Password", "\(shown) (shown only once)")) }
        return Report(
            Table.fields(fields),
            json: IssuedCertificate(
                fingerprint: certificate.fingerprint, serialNumber: certificate.serialNumber,
                teamID: certificate.teamID, topics: certificate.topics, environment: certificate.environment,
                expiresAt: certificate.expiresAt, file: files.pem, p12File: files.p12, p12Password: shown))
    }

    /// Formats the output of `certificate list`.
    static func report(of certificates: CredentialAPI.Certificates, now: Timestamp) -> Report {
        guard !certificates.certificates.isEmpty else {
            return Report("No certificates. Issue one with 'posthorn certificate issue TOPIC'.", json: certificates)
        }
        let table = Table(
            [
                .text("FINGERPRINT"), .text("TEAM ID"), .text("ENVIRONMENT"), .text("EXPIRES"), .text("STATE"),
                .text("TOPICS"),
            ],
            rows: certificates.certificates.map { certificate in
                let isForeign = certificate.teamID.isEmpty
                return [
                    String(certificate.fingerprint.prefix(16)), isForeign ? "foreign" : certificate.teamID,
                    isForeign ? "" : environment(of: certificate),
                    isForeign ? "" : LocalTime.text(certificate.expiresAt),
                    state(of: certificate, now: now),
                    certificate.topics.joined(separator: ", "),
                ]
            })
        return Report(table.text, json: certificates)
    }

    private static func state(of certificate: CredentialAPI.Certificate, now: Timestamp) -> String {
        if let revoked = certificate.revokedAt { return "revoked \(LocalTime.text(revoked))" }
        return certificate.expiresAt > now ? "valid" : "expired"
    }

    private static func environment(of certificate: CredentialAPI.Certificate) -> String {
        certificate.environment?.rawValue ?? "both"
    }
}

/// The JSON of `certificate issue`.
private struct IssuedCertificate: Encodable, Sendable {
    let fingerprint: String
    let serialNumber: String
    let teamID: String
    let topics: [String]
    let environment: Environment?
    let expiresAt: Timestamp
    let file: String?
    let p12File: String?
    let p12Password: String?

    private enum CodingKeys: String, CodingKey {
        case fingerprint, topics, environment, file
        case serialNumber = "serial_number"
        case teamID = "team_id"
        case expiresAt = "expires_at"
        case p12File = "p12_file"
        case p12Password = "p12_password"
    }
}
