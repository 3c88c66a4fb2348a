// SPDX-License-Identifier: Apache-2.0

internal import PushCluster
internal import PushNet
internal import PushServing
internal import PushTLS

extension ClusterFiles {
    /// Opens the data directory; a node of a cluster gets the files of the cluster first, or shares its own ones.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - log: The log of the server.
    /// - Returns: The data directory, and the keeper of the secrets; nil for a server without links to others.
    /// - Throws: The problem, and what to do about it.
    static func open(
        _ configuration: ServerConfiguration, _ log: EventLog
    ) throws(ServerError) -> (Installation, SecretKeeper?) {
        guard let address = configuration.storeAddress, configuration.linkAddress != nil else {
            return (try installation(configuration), nil)
        }
        // Other nodes wait until these files are released.
        let files = try ClusterFiles(address, configuration)
        let installation = try installation(configuration)
        try files.share()
        let keeper = files.secrets.makeKeeper(log)
        installation.tokenKeys.checkFreshness { keeper.isCurrent(at: $0) }
        return (installation, keeper)
    }

    private static func installation(_ configuration: ServerConfiguration) throws(ServerError) -> Installation {
        try ServerError.wrapping { () throws(InstallationError) in try Installation(configuration) }
    }

    /// Returns the receivers of changed secrets in a running server.
    ///
    /// - Parameters:
    ///   - installation: The data directory.
    ///   - node: The number of this node.
    ///   - loops: The mailboxes of the data loops.
    ///   - log: The log of the server.
    /// - Returns: The receivers.
    static func handlers(
        _ installation: Installation, _ node: NodeNumber, loops: [Mailbox<LoopMessage>], _ log: EventLog
    ) -> SecretKeeper.Handlers {
        SecretKeeper.Handlers(
            tokenKeys: { file in
                guard let keys = TokenKeyRing.keys(in: file) else { return }
                installation.tokenKeys.replace(keys)
                do throws(InstallationError) {
                    try Installation.store(file, in: installation.tokenKeysFile)
                } catch {
                    // The next start reads the keys from PostgreSQL.
                    log.warning("token_keys_not_stored", ["error": error.description])
                }
            },
            authority: { authority in
                do throws(ServerError) {
                    try installation.acceptLinks(of: node, authority)
                    let certificate = try installation.loadCertificate(installation.configuredFiles)
                    for loop in loops { loop.post(.certificate(certificate)) }
                } catch {
                    log.error("certificate_not_reloaded", ["error": error.description])
                }
            })
    }
}

extension Installation {
    /// Accepts links with certificates of an authority from the next loaded certificate on.
    func acceptLinks(of node: NodeNumber, _ authority: ClusterAuthority) throws(ServerError) {
        do throws(TLSError) {
            nodeCredentials = try authority.issueCredentials(for: node, seconds: ClusterAuthority.acceptingNodeSeconds)
        } catch {
            throw .tls(error)
        }
    }
}
