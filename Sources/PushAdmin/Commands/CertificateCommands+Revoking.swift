// SPDX-License-Identifier: Apache-2.0

package import PushCore
internal import PushTLS

extension CertificateCommands {
    static let revoke = CommandNode(
        Command(
            "revoke", "Revoke a certificate: the server refuses it from now on.",
            discussion: """
                Also one of another authority that the server trusts, by its file or its whole fingerprint, which is \
                that of: openssl x509 -noout -fingerprint -sha256
                """,
            usages: ["FINGERPRINT [OPTIONS]", "--file FILE [OPTIONS]"],
            arguments: [
                Argument("FINGERPRINT", "The fingerprint, or its first 8 digits or more.", optional: true)
            ],
            options: [
                Option("file", short: "f", value: "FILE", "The certificate itself, in PEM.", values: .file),
                SharedOptions.yes,
            ])
    ) { (invocation, surroundings) throws(CommandError) in
        let digits = try digits(invocation)
        let client = surroundings.admin(invocation)
        let known = try client.send(.get("certificates"), for: AdminAPI.Certificates.self).certificates
        guard let certificate = try find(digits, in: known, invocation) else {
            try Console.confirm("Revoke \(digits), which this server did not issue?", unless: invocation.has("yes"))
            try client.send(.post(["certificates", "revoked"], AdminAPI.RevokedCertificate(fingerprint: digits)))
            return report(ofRevoked: digits, isForeign: true)
        }
        let topics = certificate.topics.joined(separator: ", ")
        try Console.confirm("Revoke \(certificate.fingerprint) (\(topics))?", unless: invocation.has("yes"))
        try client.send(.delete("certificates", certificate.fingerprint))
        return report(ofRevoked: certificate.fingerprint, isForeign: certificate.teamID.isEmpty)
    }

    private static let digitCountMin = 8
    private static let digitCountMax = 64

    /// The hexadecimal digits that were typed, in lower case and without colons, or those of the file's certificate.
    ///
    /// - Parameter invocation: With a fingerprint or with file.
    /// - Returns: 8 to 64 digits.
    /// - Throws: When there is neither, both, or something else.
    package static func digits(_ invocation: Invocation) throws(CommandError) -> String {
        guard let path = invocation.value("file") else { return try typedDigits(invocation) }
        guard invocation.arguments.isEmpty else {
            throw .usage(invocation.error(.contradiction("a fingerprint and --file say the same twice")))
        }
        return try fingerprint(ofFile: path)
    }

    private static func typedDigits(_ invocation: Invocation) throws(CommandError) -> String {
        guard let typed = invocation.argument(0) else {
            throw .usage(invocation.error(.missingArgument(placeholder: "FINGERPRINT or --file")))
        }
        let digits = typed.lowercased().utf8.filter { $0 != UInt8(ascii: ":") }
        guard (digitCountMin...digitCountMax).contains(digits.count), digits.allSatisfy(isDigit) else {
            let expected = "\(digitCountMin) to \(digitCountMax) hexadecimal digits"
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
                path: path, problem: "no certificate in PEM",
                remedy:
                    "Name the .pem file that 'posthorn certificate issue' wrote; for a .p12 give the fingerprint, which "
                    + "'posthorn certificate list' shows.")
        }
    }

    /// The certificate that some digits begin.
    ///
    /// - Parameters:
    ///   - digits: In lower case.
    ///   - known: Those of the server.
    ///   - invocation: For errors.
    /// - Returns: nil when the server knows none, and the digits are a whole fingerprint.
    /// - Throws: When several begin so, or none does and the digits are only a beginning.
    package static func find(
        _ digits: String, in known: [AdminAPI.Certificate], _ invocation: Invocation
    ) throws(CommandError) -> AdminAPI.Certificate? {
        let found = known.filter { $0.fingerprint.utf8.starts(with: digits.utf8) }
        guard found.count <= 1 else {
            throw .usage(
                invocation.error(
                    .badValue(
                        of: "FINGERPRINT", value: digits,
                        expected: "\(found.count) certificates begin so; give more digits")))
        }
        if let certificate = found.first { return certificate }
        guard digits.utf8.count < digitCountMax else { return nil }
        let detail = "No certificate's fingerprint begins so: see 'posthorn certificate list'."
        throw .adminRefused(status: 404, DeviceAPI.Failure(error: "UnknownCertificate", detail: detail))
    }

    private static func report(ofRevoked fingerprint: String, isForeign: Bool) -> Report {
        let remark = isForeign ? ", which this server did not issue" : ""
        return Report(
            "Revoked \(fingerprint)\(remark).", json: Revocation(fingerprint: fingerprint, isForeign: isForeign))
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
