// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushCore
internal import PushNet
internal import PushSQL

/// The authorities that this device trusts for its server, from three sources.
///
/// - `ca_file` of `agent.ini`, if `url` there is empty or names this server
/// - the authorities that the server announced, or that the user decided to trust
/// - before the first announcement: the authorities of the enrolment
final class TrustStore {
    /// The values of `agent.ini`.
    struct Configuration {
        /// The server to which `caFile` belongs; nil for any.
        var serverURL: String?
        /// The file of authorities; empty for none.
        var caFile = ""
    }

    private let database: AgentDatabase
    private let directory: EnrolledAuthority
    private let configuration: Configuration

    init(_ database: AgentDatabase, _ directory: EnrolledAuthority, _ configuration: Configuration) {
        self.database = database
        self.directory = directory
        self.configuration = configuration
    }

    /// Returns the authorities to trust now, and writes their file.
    func trust(for identity: Identity, now: Timestamp) throws(StorageError) -> ServerTrust {
        let (announced, version): ([TrustedAuthority], Int64)
        do throws(SQLError) {
            announced = try database.authorities.all()
            version = try database.state.value(of: .authorityVersion) ?? 0
        } catch {
            throw .database(error)
        }
        let configured = configuredFile(for: identity)
        guard !announced.isEmpty || configured != nil else { return ServerTrust(caFile: identity.caFile) }
        let trusted = announced.valid(at: now)
        var files: [String] = []
        var includesSystem = trusted.contains { $0.certificate == nil }
        if version == 0 {
            if identity.caFile.isEmpty { includesSystem = true } else { files.append(identity.caFile) }
        }
        if let configured, !files.contains(configured) { files.append(configured) }
        var text = trusted.compactMap(\.certificate).joined(separator: "\n")
        for file in files { text += "\n" + read(file) }
        guard text.contains("-") else { return ServerTrust(caFile: files.first ?? "") }
        try write(text, to: directory.trustedPath)
        return ServerTrust(
            caFile: directory.trustedPath, includesSystem: includesSystem,
            changesAt: trusted.compactMap(\.until).min())
    }

    private func configuredFile(for identity: Identity) -> String? {
        guard !configuration.caFile.isEmpty else { return nil }
        let url = configuration.serverURL.flatMap(EnrolmentURL.normalized)
        return url == nil || url == identity.serverURL ? configuration.caFile : nil
    }

    private func read(_ path: String) -> String {
        do throws(NetError) {
            return String(decoding: try PrivateFile.read(path), as: UTF8.self)
        } catch {
            agentLog.warning("authorities_unreadable", ["path": path, "error": error.description])
            return ""
        }
    }

    private func write(_ text: String, to path: String) throws(StorageError) {
        do throws(NetError) { try PrivateFile.write(Array(text.utf8), to: path) } catch {
            throw StorageError(path, error)
        }
    }
}
