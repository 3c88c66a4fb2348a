// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import PushCore
internal import PushNet
internal import PushTLS

/// The authorities that the server announces to devices, as `authorities.json` in the data directory stores them.
struct AuthorityState: Codable, Sendable, Equatable {
    /// An announced authority.
    struct Record: Codable, Sendable, Equatable {
        /// Whether the authority is one of the server's own; otherwise it came from a file.
        var isOwn: Bool
        /// The certificate in PEM; nil for the authorities of each device's operating system.
        var certificate: String?
        /// The first version with this authority.
        var since: Int64
        /// The time at which devices stop trusting the authority, in UNIX seconds; nil without an earlier end.
        var until: Int64?
    }

    /// The version, which grows with each change; 0 if nothing was ever announced.
    ///
    /// The version is the time of the change in milliseconds. So a restored backup does not use a version again that
    /// already stands for another set.
    var version: Int64 = 0
    /// The SHA-256 of the server's own authority in hexadecimal digits, once it was rotated.
    var current: String?
    var records: [Record] = []

    private static func path(in directory: String) -> String { "\(directory)/authorities.json" }

    /// Reads the state; an absent file means that nothing was announced.
    ///
    /// - Parameter directory: The data directory.
    /// - Throws: The file that cannot be read or parsed.
    init(in directory: String) throws(InstallationError) {
        let path = Self.path(in: directory)
        guard PrivateFile.exists(path) else { return }
        let bytes = try Installation.load(path)
        guard let state = try? JSONDecoder().decode(AuthorityState.self, from: Data(bytes)) else {
            throw InstallationError(
                path: path, problem: "The file is damaged.",
                remedy: "Restore it from a backup, or remove it: then devices keep the authorities that they trust.")
        }
        self = state
    }

    /// Writes the state atomically.
    func store(in directory: String) throws(InstallationError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        guard let bytes = try? encoder.encode(self) else { preconditionFailure("texts and numbers can be encoded") }
        try Installation.store(Array(bytes), in: Self.path(in: directory))
    }

    /// Returns the version after a change.
    func nextVersion(now: Timestamp) -> Int64 { max(version + 1, now.unixMilliseconds) }
}

extension ServerCertificate {
    /// The certificate of the authority that a rotation prepares.
    var nextAuthorityFile: String { directory + "/authority-next.pem" }
    private var nextAuthorityKeyFile: String { directory + "/authority-next.key" }

    /// Creates the next authority, unless it exists.
    ///
    /// - Returns: Its certificate in PEM.
    /// - Throws: The file that could not be created.
    func prepareRotation() throws(InstallationError) -> [UInt8] {
        if !PrivateFile.exists(nextAuthorityFile) || !PrivateFile.exists(nextAuthorityKeyFile) {
            do throws(TLSError) {
                let next = try CertificateAuthority.make(commonName: Self.authorityName)
                try Installation.keep(next.privateKey, in: nextAuthorityKeyFile)
                try Installation.keep(next.certificate, in: nextAuthorityFile, mode: 0o644)
            } catch {
                throw InstallationError(certificate: nextAuthorityFile, error)
            }
        }
        return try Installation.load(nextAuthorityFile)
    }

    /// Removes the next authority.
    func cancelRotation() {
        PrivateFile.remove(nextAuthorityFile)
        PrivateFile.remove(nextAuthorityKeyFile)
    }

    /// Replaces the authority by the next one, if `authorities.json` says that this is decided.
    ///
    /// The certificate is moved last, so that a start after a crash continues here. The file of
    /// names is removed, so that the server issues itself a new certificate.
    ///
    /// - Throws: The file that could not be moved.
    func finishRotation() throws(InstallationError) {
        guard PrivateFile.exists(nextAuthorityFile), let current = try AuthorityState(in: directory).current else {
            return
        }
        let next = try Installation.fingerprint(nextAuthorityFile)
        guard Hex.text(next) == current else { return }
        do throws(NetError) {
            PrivateFile.remove(directory + "/server.names")
            if PrivateFile.exists(nextAuthorityKeyFile) {
                try PrivateFile.move(nextAuthorityKeyFile, to: directory + "/authority.key")
            }
            try PrivateFile.move(nextAuthorityFile, to: authorityFile)
        } catch {
            throw InstallationError(preparing: nextAuthorityFile, error)
        }
    }
}
