// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import PushCore
internal import PushNet
internal import PushTLS

/// The data directory and what is in it; made on first start, so that a first start needs no configuration.
///
/// ```
/// posthorn.sqlite      apps, keys, devices, registrations, pending notifications
/// token.keys           keys of device tokens, newest first, 128 hexadecimal digits a line
/// authority.pem .key   the server's own certificate authority, which issues providers' certificates too
/// server.pem .key      its certificate, unless one is configured; made anew 30 days before it expires
/// server.names         the names that server.pem was made for
/// team-id              the team of apps and keys that are made without naming one
/// backups              what `posthorn backup` made without a name
/// before-restore-…     what was there before a backup was restored
/// restoring            there while a backup is restored; no server starts then
/// ```
struct Installation: Sendable {
    let directory: String
    /// Others may look into the directory, which was there before; its secrets have modes of their own.
    let isOpenToOthers: Bool
    let tokenKeys: [[UInt8]]
    let teamID: String
    let certificateFile: String
    let privateKeyFile: String
    /// The names of the server's own certificate; nil where one is configured.
    private let ownNames: [String]?
    /// The server's own authority.
    let authority: ServerCertificate
    /// The authority that devices and providers must trust; nil where a certificate is configured.
    let authorityFile: String?

    var databaseFile: String { directory + Self.databaseName }

    /// Makes what is missing and reads the rest.
    ///
    /// - Parameter configuration: Says where, and whether a certificate is configured.
    /// - Throws: What could not be made or read, with what to do.
    init(_ configuration: ServerConfiguration) throws(InstallationError) {
        directory = configuration.dataDirectory
        do throws(NetError) {
            try PrivateFile.makeDirectory(directory)
            isOpenToOthers = try PrivateFile.isOpenToOthers(directory)
        } catch {
            throw InstallationError(preparing: directory, error)
        }
        try Self.refuseHalfRestored(directory)
        tokenKeys = try Self.tokenKeys(in: directory)
        teamID = try Self.teamID(in: directory)
        // Also where a certificate is configured: providers may want certificates later, and connections can only
        // believe an authority that was there when they were made.
        authority = try ServerCertificate(directory: directory)
        if let certificate = configuration.certificateFile, let key = configuration.privateKeyFile {
            (certificateFile, privateKeyFile, authorityFile) = (certificate, key, nil)
            ownNames = nil
        } else {
            let names = configuration.names.isEmpty ? Self.ownNames() : configuration.names
            try authority.issueIfNeeded(for: names)
            (certificateFile, privateKeyFile) = (authority.certificateFile, authority.privateKeyFile)
            authorityFile = authority.authorityFile
            ownNames = names
        }
    }

    /// The authority whose client certificates are the server's own; nil where its certificate was taken away.
    var clientAuthorityFile: String? {
        let path = authority.authorityFile
        return PrivateFile.exists(path) ? path : nil
    }

    /// SHA-256 of the certificate of the authority that devices must trust; nil where they ask their system.
    ///
    /// - Throws: The file that could not be read.
    func authorityFingerprint() throws(InstallationError) -> [UInt8]? {
        guard let authorityFile, PrivateFile.exists(authorityFile) else { return nil }
        let certificate = try Self.load(authorityFile)
        do throws(TLSError) {
            return try CertificateAuthority.fingerprint(certificate: certificate)
        } catch {
            throw InstallationError(certificate: authorityFile, error)
        }
    }

    /// Issues the server's own certificate anew when it expires soon.
    ///
    /// - Returns: Whether there is a new one.
    /// - Throws: The file that could not be read or made.
    func renewCertificate() throws(InstallationError) -> Bool {
        guard let ownNames else { return false }
        return try authority.issueIfNeeded(for: ownNames)
    }

    /// Where a restore gathers its files.
    static func restoringDirectory(in directory: String) -> String { directory + "/restoring" }

    /// A part of a backup and a part of what was there would make a server that loses everything without a word.
    private static func refuseHalfRestored(_ directory: String) throws(InstallationError) {
        let path = restoringDirectory(in: directory)
        guard PrivateFile.exists(path) else { return }
        throw InstallationError(
            path: path, problem: "A backup is being restored, or its restore was interrupted.",
            remedy: "Let it end, or restore the backup again: posthornd --restore DIRECTORY")
    }

    private static func tokenKeys(in directory: String) throws(InstallationError) -> [[UInt8]] {
        let path = directory + "/token.keys"
        if !PrivateFile.exists(path) {
            // Never a new key beside an old database: every device token would be lost without a word.
            guard !PrivateFile.exists(directory + databaseName) else {
                throw InstallationError(
                    path: path, problem: "It is missing, and the database beside it has devices with tokens of it.",
                    remedy: "Restore the file from a backup: without it every device token is lost.")
            }
            var line: [UInt8] = []
            Hex.append(SecureRandom.bytes(count: tokenKeyByteCount).span, to: &line)
            try store(line + [UInt8(ascii: "\n")], in: path)
        }
        let lines = try load(path).split(separator: UInt8(ascii: "\n"))
        let keys = lines.compactMap { Hex.decode(Array($0).span) }
        guard !keys.isEmpty, keys.count == lines.count, keys.allSatisfy({ $0.count == tokenKeyByteCount }) else {
            throw InstallationError(
                path: path, problem: "A line is not a key of 128 hexadecimal digits.",
                remedy: "Restore the file from a backup: without it every device token is lost.")
        }
        return keys
    }

    /// Device tokens of the two environments are made with different keys, so that one of the other does not open.
    func makeTokenCipher(for environment: Environment) throws(TLSError) -> TokenCipher {
        switch environment {
        case .production: try TokenCipher(keys: tokenKeys)
        case .development: try TokenCipher(keys: tokenKeys.map(Self.developmentKey))
        }
    }

    /// Derives a key: SHA-256 of the key of production and a label, once for each half.
    private static func developmentKey(_ key: [UInt8]) -> [UInt8] {
        [UInt8(1), 2].flatMap { half in SHA256.hash((key + "posthorn device token, development".utf8 + [half]).span) }
    }

    private static let databaseName = "/posthorn.sqlite"

    /// AES-256-SIV takes two keys of 32 bytes.
    private static let tokenKeyByteCount = 64

    private static func teamID(in directory: String) throws(InstallationError) -> String {
        let path = directory + "/team-id"
        if !PrivateFile.exists(path) { try store(Array((Identifier.make() + "\n").utf8), in: path) }
        let text = String(decoding: try load(path).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        guard Identifier.isValid(text) else {
            throw InstallationError(
                path: path, problem: "It does not hold ten characters of A-Z and 0-9.",
                remedy: "Restore the file from a backup, or remove it to get a new team id.")
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

/// What could not be prepared, and what to do about it.
package struct InstallationError: Error, Sendable {
    /// The file or directory.
    package var path: String
    /// What is wrong.
    package var problem: String
    /// One imperative sentence.
    package var remedy: String

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

    /// The two lines that a person reads.
    package var description: String { "\(path): \(problem)\n\(remedy)" }
}
