// SPDX-License-Identifier: Apache-2.0

internal import PushNet
internal import PushTLS

/// The server's own authority and the server certificate that it issues.
struct ServerCertificate: Sendable {
    let directory: String
    var authorityFile: String { directory + "/authority.pem" }
    var certificateFile: String { directory + "/server.pem" }
    var privateKeyFile: String { directory + "/server.key" }
    private var authorityKeyFile: String { directory + "/authority.key" }
    private var namesFile: String { directory + "/server.names" }

    /// Creates the authority if neither of its files exists.
    ///
    /// An incomplete authority is never replaced, because devices trust it.
    ///
    /// - Parameter directory: The data directory.
    /// - Throws: The file that could not be created.
    init(directory: String) throws(InstallationError) {
        self.directory = directory
        try finishRotation()
        guard !PrivateFile.exists(authorityFile), !PrivateFile.exists(authorityKeyFile) else { return }
        // A certificate from an earlier authority is invalid with this one, so force a new certificate.
        PrivateFile.remove(namesFile)
        do throws(TLSError) {
            let authority = try CertificateAuthority.make(commonName: Self.authorityName)
            try Installation.keep(authority.privateKey, in: authorityKeyFile)
            try Installation.keep(authority.certificate, in: authorityFile, mode: 0o644)
        } catch {
            throw InstallationError(certificate: authorityFile, error)
        }
    }

    /// Issues a certificate if none exists, if it expires soon, or if the names changed.
    ///
    /// - Parameter names: The DNS names and IP addresses of the server.
    /// - Returns: Whether there is a new certificate.
    /// - Throws: The file that could not be read or created.
    @discardableResult
    func issueIfNeeded(for names: [String]) throws(InstallationError) -> Bool {
        let wanted = Array((names.joined(separator: "\n") + "\n").utf8)
        guard try !isGood(for: wanted) else { return false }
        let authority = try authority(
            for: "the server needs it to issue a new certificate",
            else: "configure certificate_file and private_key_file")
        do throws(TLSError) {
            let issued = try CertificateAuthority.issueServerCertificate(
                names: names, authorityCertificate: authority.certificate, authorityPrivateKey: authority.privateKey)
            try Installation.keep(issued.privateKey, in: privateKeyFile)
            try Installation.keep(issued.certificate + authority.certificate, in: certificateFile, mode: 0o644)
            try Installation.keep(wanted, in: namesFile)
        } catch {
            throw InstallationError(certificate: certificateFile, error)
        }
        return true
    }

    /// Reads the certificate and private key of the authority.
    ///
    /// - Parameters:
    ///   - need: The purpose, as the end of a sentence that begins "The file is missing, and".
    ///   - alternative: The alternative to a backup, as the end of a sentence that contains "or".
    /// - Returns: Two PEM texts.
    /// - Throws: The file that is missing or cannot be read.
    func authority(
        for need: String, else alternative: String
    ) throws(InstallationError) -> (certificate: [UInt8], privateKey: [UInt8]) {
        for part in [authorityFile, authorityKeyFile] where !PrivateFile.exists(part) {
            throw InstallationError(
                path: part, problem: "The file is missing, and \(need).",
                remedy: "Restore it from a backup, or \(alternative).")
        }
        return (try Installation.load(authorityFile), try Installation.load(authorityKeyFile))
    }

    /// The name in the authority's certificate.
    static let authorityName = "Posthorn authority of this server"
    /// The remaining lifetime in seconds at which a certificate is replaced.
    private static let renewalSeconds: Int64 = 30 * 24 * 3600

    private func isGood(for wanted: [UInt8]) throws(InstallationError) -> Bool {
        let files = [certificateFile, privateKeyFile, namesFile]
        guard files.allSatisfy(PrivateFile.exists), try Installation.load(namesFile) == wanted else { return false }
        let certificate = try Installation.load(certificateFile)
        do throws(TLSError) {
            return try CertificateAuthority.secondsUntilExpiry(certificate: certificate) > Self.renewalSeconds
        } catch {
            throw InstallationError(certificate: certificateFile, error)
        }
    }
}
