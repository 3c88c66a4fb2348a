// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI
internal import PushCore
internal import PushTLS

extension CertificateCommands {
    static let revoke = CommandNode(
        Command(
            "revoke", "Revoke a certificate.",
            discussion: """
                To revoke a certificate of another CA that the server trusts, specify its file or its complete \
                fingerprint, as 'openssl x509 -noout -fingerprint -sha256' prints it.
                """,
            usages: ["FINGERPRINT [OPTIONS]", "--file FILE [OPTIONS]"],
            arguments: [
                Argument("FINGERPRINT", "The fingerprint, or at least its first 8 digits.", optional: true)
            ],
            options: [
                Option("file", short: "f", value: "FILE", "The certificate file (PEM).", values: .file),
                SharedOptions.yes,
            ])
    ) { (invocation, context) throws(CommandError) in
        let digits = try digits(invocation)
        let client = context.admin(invocation)
        let known = try client.send(.get("certificates"), for: CredentialAPI.Certificates.self).certificates
        guard let certificate = try find(digits, in: known, invocation) else {
            try Console.confirm("Revoke certificate \(digits) of another CA?", unless: invocation.has("yes"))
            try client.send(.post(["certificates", "revoked"], CredentialAPI.RevokedCertificate(fingerprint: digits)))
            return report(ofRevoked: digits, isForeign: true)
        }
        let topics = certificate.topics.joined(separator: ", ")
        try Console.confirm("Revoke certificate \(certificate.fingerprint) (\(topics))?", unless: invocation.has("yes"))
        try client.send(.delete("certificates", certificate.fingerprint))
        return report(ofRevoked: certificate.fingerprint, isForeign: certificate.teamID.isEmpty)
    }

    private static let digitCountMin = 8
    private static let digitCountMax = 64

    /// Returns the fingerprint from the command line, or that of the certificate file, in lower case without colons.
    ///
    /// - Parameter invocation: The command line, with a fingerprint or with `--file`.
    /// - Returns: 8 to 64 hexadecimal digits.
    /// - Throws: An error when neither or both are given, or the fingerprint is invalid.
    package static func digits(_ invocation: Invocation) throws(CommandError) -> String {
        guard let path = invocation.value("file") else { return try typedDigits(invocation) }
        guard invocation.arguments.isEmpty else {
            throw .usage(invocation.error(.contradiction("specify either FINGERPRINT or --file")))
        }
        return try fingerprint(ofFile: path)
    }

    private static func typedDigits(_ invocation: Invocation) throws(CommandError) -> String {
        guard let typed = invocation.argument(0) else {
            throw .usage(invocation.error(.missingArgument(placeholder: "FINGERPRINT or --file")))
        }
        let digits = typed.lowercased().utf8.filter { $0 != UInt8(ascii: ":") }
        guard (digitCountMin...digitCountMax).contains(digits.count), digits.allSatisfy(isDigit) else {
            let expected = "use \(digitCountMin) to \(digitCountMax) hexadecimal digits"
            throw .usage(invocation.error(.badValue(of: "FINGERPRINT", value: typed, expected: expected)))
        }
        return String(decoding: digits, as: UTF8.self)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    private static func fingerprint(ofFile path: String) throws(CommandError) -> String {
        let pem: [UInt8]
        do throws(FileError) { pem = try LocalFile.read(path) } catch { throw .file(error) }
        do throws(TLSError) {
            let fingerprint = try CertificateAuthority.fingerprint(certificate: pem)
            var digits: [UInt8] = []
            Hex.append(fingerprint.span, to: &digits)
            return String(decoding: digits, as: UTF8.self)
        } catch {
            throw .badFile(
                path: path, problem: "not a PEM certificate",
                remedy:
                    "Specify the .pem file that 'posthorn certificate issue' wrote, or the fingerprint from 'posthorn "
                    + "certificate list'.")
        }
    }

    /// Finds the certificate whose fingerprint starts with the given digits.
    ///
    /// - Parameters:
    ///   - digits: The digits, in lower case.
    ///   - known: The server's certificates.
    ///   - invocation: The command line, for error messages.
    /// - Returns: The certificate; nil if the digits are a whole fingerprint that the server does not know.
    /// - Throws: An error when the digits match several certificates, or are a prefix that matches none.
    package static func find(
        _ digits: String, in known: [CredentialAPI.Certificate], _ invocation: Invocation
    ) throws(CommandError) -> CredentialAPI.Certificate? {
        let found = known.filter { $0.fingerprint.utf8.starts(with: digits.utf8) }
        guard found.count <= 1 else {
            throw .usage(
                invocation.error(
                    .badValue(
                        of: "FINGERPRINT", value: digits,
                        expected: "it matches \(found.count) certificates; specify more digits")))
        }
        if let certificate = found.first { return certificate }
        guard digits.utf8.count < digitCountMax else { return nil }
        let failure = DeviceAPI.Failure(error: "UnknownCertificate", detail: "See 'posthorn certificate list'.")
        throw .reworded(
            .adminRefused(status: 404, failure),
            problem: "no certificate with fingerprint '\(digits)'; see 'posthorn certificate list'")
    }

    private static func report(ofRevoked fingerprint: String, isForeign: Bool) -> Report {
        let remark = isForeign ? " of another CA" : ""
        return Report(
            "Revoked certificate \(fingerprint)\(remark).",
            json: Revocation(fingerprint: fingerprint, isForeign: isForeign))
    }
}

/// The JSON of `certificate revoke`.
private struct Revocation: Encodable, Sendable {
    let done = true
    let fingerprint: String
    let isForeign: Bool

    private enum CodingKeys: String, CodingKey {
        case done, fingerprint
        case isForeign = "foreign"
    }
}
