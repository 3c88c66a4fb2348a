// SPDX-License-Identifier: Apache-2.0

internal import PushNet
internal import PushTLS

/// The server's own authority and the certificate that it issues for the server.
struct ServerCertificate: Sendable {
    let directory: String
    var authorityFile: String { directory + "/authority.pem" }
    var certificateFile: String { directory + "/server.pem" }
    var privateKeyFile: String { directory + "/server.key" }
    private var authorityKeyFile: String { directory + "/authority.key" }
    private var namesFile: String { directory + "/server.names" }

    /// Makes the authority if there is nothing of one; a part of one is never replaced, because devices trust it.
    ///
    /// - Parameter directory: The data directory.
    /// - Throws: The file that could not be made.
    init(directory: String) throws(InstallationError) {
        self.directory = directory
        guard !PrivateFile.exists(authorityFile), !PrivateFile.exists(authorityKeyFile) else { return }
        // What an earlier authority issued is not worth anything with this one.
        PrivateFile.remove(namesFile)
        do throws(TLSError) {
            let authority = try CertificateAuthority.make(commonName: "Posthorn authority of this server")
            try keep(authority.privateKey, in: authorityKeyFile)
            try keep(authority.certificate, in: authorityFile, mode: 0o644)
        } catch {
            throw InstallationError(certificate: authorityFile, error)
        }
    }

    /// Issues a certificate when there is none, when it expires soon, or when the names changed.
    ///
    /// - Parameter names: DNS names and IP addresses.
    /// - Returns: Whether there is a new one.
    /// - Throws: The file that could not be read or made.
    @discardableResult
    func issueIfNeeded(for names: [String]) throws(InstallationError) -> Bool {
        let wanted = Array((names.joined(separator: "\n") + "\n").utf8)
        guard try !isGood(for: wanted) else { return false }
        let authority = try authority(
            for: "the server needs a new certificate of its authority",
            else: "configure certificate_file and private_key_file")
        do throws(TLSError) {
            let issued = try CertificateAuthority.issueServerCertificate(
                names: names, authorityCertificate: authority.certificate, authorityPrivateKey: authority.privateKey)
            try keep(issued.privateKey, in: privateKeyFile)
            try keep(issued.certificate + authority.certificate, in: certificateFile, mode: 0o644)
            try keep(wanted, in: namesFile)
        } catch {
            throw InstallationError(certificate: certificateFile, error)
        }
        return true
    }

    /// Reads certificate and key of the authority.
    ///
    /// - Parameters:
    ///   - need: What they are needed for, behind "It is missing, and".
    ///   - alternative: What to do where there is no backup, behind "or".
    /// - Returns: Two PEM texts.
    /// - Throws: The one that is missing or cannot be read.
    func authority(
        for need: String, else alternative: String
    ) throws(InstallationError) -> (certificate: [UInt8], privateKey: [UInt8]) {
        for part in [authorityFile, authorityKeyFile] where !PrivateFile.exists(part) {
            throw InstallationError(
                path: part, problem: "It is missing, and \(need).",
                remedy: "Restore it from a backup, or \(alternative).")
        }
        return (try Installation.load(authorityFile), try Installation.load(authorityKeyFile))
    }

    /// How long before its end a certificate is replaced.
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

    private func keep(_ bytes: [UInt8], in path: String, mode: UInt32 = 0o600) throws(TLSError) {
        do throws(NetError) {
            try PrivateFile.write(bytes, to: path, mode: mode)
        } catch {
            throw .badFile(path: path, text: error.description)
        }
    }
}
