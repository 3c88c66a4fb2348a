// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// `posthorn certificate`: the certificates with which back-ends come that do not sign provider tokens.
package enum CertificateCommands {
    static let group = CommandNode(
        group: "certificate", "Issue, list and revoke client certificates of back-ends.",
        discussion: """
            For back-ends whose library comes with a certificate, as Apple's older ones did; a signing key does the \
            same and does not expire: posthorn key create. Certificates are signed by the server's own authority, \
            authority.pem in its data directory.
            """,
        children: [issue, list, revoke], defaultChild: "list")

    private static let issue = CommandNode(
        Command(
            "issue", "Issue a certificate for an app.",
            discussion: """
                Writes certificate and private key to one PEM file, CERT_TOPIC.pem, which only its owner can read, and \
                with --p12 to a PKCS#12 file instead, or with --output too. The server does not keep the private key; \
                who loses the file issues another certificate.

                The kind says what it can send. single: alerts, background updates, and what goes to file providers, \
                widgets and controls; a request need not name its topic. universal: alerts, background updates, VoIP, \
                complications and push to talk; a request must name its topic. voip: VoIP alone. Location and Live \
                Activities take a signing key.
                """,
            arguments: [Argument("TOPIC", "The app's topic, for example org.example.Mail.")], options: issueOptions,
            examples: [
                Explanation("posthorn certificate issue org.example.Mail", "CERT_org.example.Mail.pem, for a year."),
                Explanation(
                    "posthorn certificate issue org.example.Mail --p12 mail.p12",
                    "A PKCS#12 file, with a password that is asked for or made."),
            ])
    ) { (invocation, surroundings) throws(CommandError) in
        try issue(invocation, client: surroundings.admin(invocation))
    }

    private static let issueOptions: OptionTable = [
        Option(
            "kind", short: "k", value: "KIND", "single, universal or voip; single if left out.",
            values: .choice(AdminAPI.NewCertificate.Kind.allCases.map(\.rawValue))),
        Option(
            "environment", short: "e", value: "NAME", "Only production or only development; both if left out.",
            values: .choice(Environment.allCases.map(\.rawValue))),
        Option(
            "days", value: "N",
            "How long it is valid, at most \(Limits.certificateDayCountMax); "
                + "\(AdminAPI.NewCertificate.daysUsual) if left out."),
        Option(
            "output", short: "o", value: "FILE", "Where to write the PEM file: a file or a directory.", values: .file),
        Option("p12", value: "FILE", "Write a PKCS#12 file, or one in this directory.", values: .file),
        Option(
            "password-file", value: "FILE",
            "The first line is the password of the PKCS#12 file; asked at a terminal, or made and shown, if left out.",
            values: .file),
    ]

    private static let list = CommandNode(
        Command("list", "List the certificates, and foreign ones that were revoked.")
    ) { (invocation, surroundings) throws(CommandError) in
        let certificates = try surroundings.admin(invocation).send(
            .get("certificates"), for: AdminAPI.Certificates.self)
        return report(of: certificates, nowUnixSeconds: LocalTime.nowUnixSeconds)
    }

    private static func issue(_ invocation: Invocation, client: AdminClient) throws(CommandError) -> Report {
        let request = try issueRequest(invocation)
        // Before the server makes a certificate that could not be kept.
        let files = try CertificateFiles(invocation)
        let password = try files.password(invocation)
        let topic = invocation.arguments[0]
        let certificate = try client.send(request, for: AdminAPI.Certificate.self, about: [topic])
        do throws(CommandError) {
            try files.write(certificate, named: topic, password: password?.text)
        } catch {
            // Nobody has the private key: the certificate must not stay valid.
            try? client.send(.delete("certificates", certificate.fingerprint))
            throw error
        }
        return report(of: certificate, files: files, password: password)
    }

    /// What `certificate issue` asks of the server.
    ///
    /// - Parameter invocation: With the topic and what the certificate is for.
    /// - Returns: The request.
    /// - Throws: When the number of days is none.
    package static func issueRequest(_ invocation: Invocation) throws(CommandError) -> AdminRequest {
        let days: Int64?
        do throws(UsageError) {
            days = try invocation.integer("days", in: 1...Int64(Limits.certificateDayCountMax))
        } catch {
            throw .usage(error)
        }
        return .post(
            "certificates",
            AdminAPI.NewCertificate(
                topic: invocation.arguments[0],
                kind: invocation.value("kind").flatMap(AdminAPI.NewCertificate.Kind.init),
                environment: invocation.value("environment").flatMap(Environment.init), days: days.map(Int.init)))
    }

    /// What `certificate issue` prints: never the private key itself, and a password only when it was made just now.
    package static func report(
        of certificate: AdminAPI.Certificate, files: CertificateFiles, password: CertificateFiles.Password?
    ) -> Report {
        var fields = [
            ("Fingerprint", certificate.fingerprint), ("Serial number", certificate.serialNumber),
            ("Team ID", certificate.teamID), ("Topics", certificate.topics.joined(separator: ", ")),
            ("Environment", environment(of: certificate)),
            ("Expires", LocalTime.text(unixSeconds: certificate.expiresAt)),
        ]
        if let path = files.pem { fields.append(("File", path)) }
        if let path = files.p12 { fields.append(("PKCS#12 file", path)) }
        let shown = password.flatMap { $0.isMade ? $0.text : nil }
        if let shown { fields.append(("Password", "\(shown) (shown this once)")) }
        return Report(
            Table.fields(fields),
            json: IssuedCertificate(
                fingerprint: certificate.fingerprint, serialNumber: certificate.serialNumber,
                teamID: certificate.teamID, topics: certificate.topics, environment: certificate.environment,
                expiresAt: certificate.expiresAt, file: files.pem, p12File: files.p12, p12Password: shown))
    }

    /// What `certificate list` prints.
    package static func report(of certificates: AdminAPI.Certificates, nowUnixSeconds: Int64) -> Report {
        guard !certificates.certificates.isEmpty else {
            return Report("No certificates yet. Issue one: posthorn certificate issue TOPIC", json: certificates)
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
                    isForeign ? "" : LocalTime.text(unixSeconds: certificate.expiresAt),
                    state(of: certificate, nowUnixSeconds: nowUnixSeconds),
                    certificate.topics.joined(separator: ", "),
                ]
            })
        return Report(table.text, json: certificates)
    }

    private static func state(of certificate: AdminAPI.Certificate, nowUnixSeconds: Int64) -> String {
        if let revoked = certificate.revokedAt { return "revoked \(LocalTime.text(unixSeconds: revoked))" }
        return certificate.expiresAt > nowUnixSeconds ? "good" : "expired"
    }

    private static func environment(of certificate: AdminAPI.Certificate) -> String {
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
    let expiresAt: Int64
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
