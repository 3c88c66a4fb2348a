// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import PushCore
internal import PushNet
internal import PushTLS

/// The data directory and its contents, created on first start so that no configuration is needed.
///
/// ```
/// posthorn.sqlite      apps, keys, devices, registrations, pending notifications
/// token.keys           keys of device tokens, newest first, 128 hexadecimal digits a line
/// authority.pem .key   the server's own certificate authority, which also issues provider certificates
/// authority-next.pem .key  the authority after a rotation that has begun
/// authorities.json     the authorities that the server announces to devices
/// authorities.pem      its own authorities, also those before a rotation, for provider certificates
/// server.pem .key      its certificate, unless one is configured; renewed 30 days before it expires
/// server.names         the names in server.pem
/// team-id              the team of apps and keys that are created without a team
/// backups              backups that `posthorn backup` created without a name
/// before-restore-…     the files that a restored backup replaced
/// restoring            exists while a backup is restored; no server starts then
/// ```
struct Installation: Sendable {
    let directory: String
    /// Whether other users can read the directory, which existed before; its secrets have their own modes.
    let isOpenToOthers: Bool
    /// The keys of device tokens, which a cluster may change.
    let tokenKeys: TokenKeyRing
    let teamID: String
    /// The files of the configured certificate and of the additional CAs; a reload may name others.
    private let files: Lock<CertificateFiles>
    private let expiry = Lock<Timestamp?>(nil)
    private let peers = Lock<PeerCredentials?>(nil)
    /// The names in the server's own certificate; nil if a certificate is configured.
    private let ownNames: [String]?
    /// The server's own certificate authority.
    let authority: ServerCertificate
    /// The authority that devices and providers must trust; nil if a certificate is configured.
    let authorityFile: String?

    var databaseFile: String { directory + Self.databaseName }
    var tokenKeysFile: String { Self.tokenKeysFile(in: directory) }
    /// The file with the last instance of this node in PostgreSQL.
    var nodeFile: String { directory + "/node" }

    /// Creates missing files and reads the others.
    ///
    /// - Parameter configuration: The data directory, and the configured certificate if any.
    /// - Throws: The file that could not be created or read, and what to do about it.
    init(_ configuration: ServerConfiguration) throws(InstallationError) {
        directory = configuration.dataDirectory
        do throws(NetError) {
            try PrivateFile.makeDirectory(directory)
            isOpenToOthers = try PrivateFile.isOpenToOthers(directory)
        } catch {
            throw InstallationError(preparing: directory, error)
        }
        try Self.refuseHalfRestored(directory)
        tokenKeys = TokenKeyRing(try Self.tokenKeys(in: directory))
        teamID = try Self.teamID(in: directory)
        // Create the authority even if a certificate is configured. Providers may need certificates later, and a
        // connection trusts only an authority that existed when it was opened.
        authority = try ServerCertificate(directory: directory)
        let files = CertificateFiles(configuration)
        self.files = Lock(files)
        guard files.configured == nil else {
            (authorityFile, ownNames) = (nil, nil)
            return
        }
        let names = configuration.names.isEmpty ? Self.ownNames() : configuration.names
        try authority.issueIfNeeded(for: names)
        (authorityFile, ownNames) = (authority.authorityFile, names)
    }

    /// The configured files of the certificate and of the additional CAs, as they are used now.
    var configuredFiles: CertificateFiles { files.withLock { $0 } }
    /// The credentials of this node, which the next loaded certificate uses for links; nil without a cluster.
    var nodeCredentials: PeerCredentials? {
        get { peers.withLock { $0 } }
        nonmutating set { peers.withLock { $0 = newValue } }
    }

    /// The time at which the presented certificate expires; nil before a certificate is loaded.
    ///
    /// The file may already contain another certificate, which is not loaded yet.
    var certificateExpiry: Timestamp? { expiry.withLock { $0 } }
    /// The file of the certificate chain that the server presents.
    var certificateFile: String { configuredFiles.configured?.certificate ?? authority.certificateFile }

    /// Renews the server's own certificate if it expires soon, and loads the certificate for the loops.
    ///
    /// - Parameter files: The files to use from now on; whether a certificate is configured does not change.
    /// - Returns: The certificate, its key, and the CAs of client certificates.
    /// - Throws: The file that cannot be read or is invalid; then the former files stay in use.
    func loadCertificate(_ files: CertificateFiles) throws(ServerError) -> TLSContext {
        _ = try ServerError.wrapping { () throws(InstallationError) in try renewCertificate() }
        var files = files
        if (files.configured == nil) != (ownNames != nil) { files.configured = configuredFiles.configured }
        do throws(TLSError) {
            let context = try TLSContext(
                certificateChainFile: files.configured?.certificate ?? authority.certificateFile,
                privateKeyFile: files.configured?.privateKey ?? authority.privateKeyFile,
                clientAuthorities: ClientAuthorities(
                    ownFile: clientAuthorityFile, otherFiles: files.clientAuthorities),
                peers: nodeCredentials)
            self.files.withLock { $0 = files }
            expiry.withLock { $0 = Timestamp(unixSeconds: context.certificateExpiryUnixSeconds) }
            return context
        } catch {
            throw .tls(error)
        }
    }

    /// The authority that issues provider certificates; nil if its certificate file was removed.
    var clientAuthorityFile: String? {
        let path = PrivateFile.exists(ownAuthoritiesFile) ? ownAuthoritiesFile : authority.authorityFile
        return PrivateFile.exists(path) ? path : nil
    }

    /// The file of all own authorities, once the server announced any.
    var ownAuthoritiesFile: String { directory + "/authorities.pem" }

    /// Returns the SHA-256 of the certificate of the authority that devices must trust.
    ///
    /// - Returns: The hash; nil if devices use their system's trust store.
    /// - Throws: The file that could not be read.
    func authorityFingerprint() throws(InstallationError) -> [UInt8]? {
        guard let authorityFile, PrivateFile.exists(authorityFile) else { return nil }
        return try Self.fingerprint(authorityFile)
    }

    /// Renews the server's own certificate if it expires soon.
    ///
    /// - Returns: Whether there is a new certificate.
    /// - Throws: The file that could not be read or created.
    func renewCertificate() throws(InstallationError) -> Bool {
        guard let ownNames else { return false }
        return try authority.issueIfNeeded(for: ownNames)
    }

    /// Returns the directory where a restore collects its files.
    static func restoringDirectory(in directory: String) -> String { directory + "/restoring" }

    /// Refuses a half-restored directory, because a mix of backup and older files would silently lose all data.
    private static func refuseHalfRestored(_ directory: String) throws(InstallationError) {
        let path = restoringDirectory(in: directory)
        guard PrivateFile.exists(path) else { return }
        throw InstallationError(
            path: path, problem: "A backup is being restored, or its restore was interrupted.",
            remedy: "Wait until it ends, or restore the backup again: posthornd --restore DIRECTORY")
    }

    private static func tokenKeysFile(in directory: String) -> String { directory + "/token.keys" }

    private static func tokenKeys(in directory: String) throws(InstallationError) -> [[UInt8]] {
        let path = tokenKeysFile(in: directory)
        if !PrivateFile.exists(path) {
            // Never create a new key beside an old database: every device token would silently become invalid.
            guard !PrivateFile.exists(directory + databaseName) else {
                throw InstallationError(
                    path: path, problem: "The file is missing, and the device tokens in the database depend on it.",
                    remedy: "Restore the file from a backup. Without it, every device token is invalid.")
            }
            var line: [UInt8] = []
            Hex.append(SecureRandom.bytes(count: TokenKeyRing.keyByteCount).span, to: &line)
            try store(line + [UInt8(ascii: "\n")], in: path)
        }
        guard let keys = TokenKeyRing.keys(in: try load(path)) else {
            throw InstallationError(
                path: path, problem: "A line is not a key of 128 hexadecimal digits.",
                remedy: "Restore the file from a backup. Without it, every device token is invalid.")
        }
        return keys
    }

    private static let databaseName = "/posthorn.sqlite"

    private static func teamID(in directory: String) throws(InstallationError) -> String {
        let path = directory + "/team-id"
        if !PrivateFile.exists(path) { try store(Array((Identifier.make() + "\n").utf8), in: path) }
        let text = String(decoding: try load(path).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard Identifier.isValid(text) else {
            throw InstallationError(
                path: path, problem: "The file does not contain ten characters of A-Z and 0-9.",
                remedy: "Restore the file from a backup, or remove it to get a new team ID.")
        }
        return text
    }

    static func store(_ bytes: [UInt8], in path: String, mode: UInt32 = 0o600) throws(InstallationError) {
        do throws(NetError) {
            try PrivateFile.write(bytes, to: path, mode: mode)
        } catch {
            throw InstallationError(preparing: path, error)
        }
    }

    /// Writes a file of the authority.
    static func keep(_ bytes: [UInt8], in path: String, mode: UInt32 = 0o600) throws(TLSError) {
        do throws(NetError) {
            try PrivateFile.write(bytes, to: path, mode: mode)
        } catch {
            throw .badFile(path: path, text: error.description)
        }
    }

    /// Returns the SHA-256 of the first certificate in a file.
    static func fingerprint(_ path: String) throws(InstallationError) -> [UInt8] {
        let certificate = try load(path)
        do throws(TLSError) {
            return try CertificateAuthority.fingerprint(certificate: certificate)
        } catch {
            throw InstallationError(certificate: path, error)
        }
    }

    static func load(_ path: String) throws(InstallationError) -> [UInt8] {
        do throws(NetError) {
            return try PrivateFile.read(path)
        } catch {
            throw InstallationError(preparing: path, error)
        }
    }

    private static func ownNames() -> [String] {
        var names = ["localhost", "127.0.0.1", "::1"]
        let host = ProcessInfo.processInfo.hostName
        if !host.isEmpty, !names.contains(host) { names.insert(host, at: 0) }
        return names
    }
}

/// A file or directory that could not be prepared, and what to do about it.
package struct InstallationError: Error, Sendable {
    var path: String
    var problem: String
    /// One imperative sentence, or an empty text.
    var remedy: String

    init(path: String, problem: String, remedy: String) {
        self.path = path
        self.problem = problem
        self.remedy = remedy
    }

    init(preparing path: String, _ error: NetError) {
        self.init(
            path: path, problem: "cannot create or read it: \(error.description).",
            remedy: "Give this user write access, or set data_directory to a directory that this user can write to.")
    }

    /// Describes why a directory for a backup cannot be created.
    init(creating path: String, _ error: NetError) {
        let reason =
            switch error {
            case .system(_, EACCES, _), .system(_, EPERM, _): "permission denied for the server's user"
            case .system(_, let code, _): SystemError.text(code)
            case .badAddress: error.description
            }
        self.init(path: path, problem: "Cannot create \(path): \(reason).", remedy: "")
    }

    init(certificate path: String, _ error: TLSError) {
        self.init(path: path, problem: error.description, remedy: "Correct or remove the file and start again.")
    }

    /// The two lines of text for the user.
    var description: String { "\(path): \(problem)\n\(remedy)" }
}
