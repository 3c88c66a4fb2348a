// SPDX-License-Identifier: Apache-2.0

internal import PushCluster
internal import PushNet
internal import PushPostgres

/// The task of `posthornd --init-cluster`.
package enum ClusterPreparation {
    /// Prepares the cluster of a configuration, or this machine for a cluster that exists.
    ///
    /// Existing tables, keys and files stay unchanged, so the preparation can be repeated, also while nodes run.
    ///
    /// - Parameter configuration: The configuration with the address of PostgreSQL and the data directory.
    /// - Returns: The text to print.
    /// - Throws: The problem, and what to do about it.
    package static func run(_ configuration: ServerConfiguration) throws(ServerError) -> String {
        let (address, link) = try addresses(configuration)
        let directory = configuration.dataDirectory
        let hadTokenKeys = PrivateFile.exists("\(directory)/token.keys")
        let keyFile = ClusterFiles.keyFile(configuration)
        let (files, isNew): (ClusterFiles, Bool)
        do throws(ServerError) {
            files = try ClusterFiles(address, configuration)
            isNew = files.secrets.tokenKeys.isEmpty
            _ = try ServerError.wrapping { () throws(InstallationError) in try Installation(configuration) }
            try files.share()
        } catch {
            // The server cannot read files that belong to root. An error here must not hide the first one.
            try? giveFiles(of: directory, and: keyFile)
            throw error
        }
        try giveFiles(of: directory, and: keyFile)
        let ports = configuration.listen.map(\.port)
        var lines = files.secrets.findings.map { "\($0)" }
        lines += ClusterAddressCheck.warnings(about: link, ports: ports)
        lines = lines.map { "Warning: \($0)" }
        guard isNew else {
            lines.append(
                "The cluster in \(address) exists already. This machine has its key and its files in \(directory).")
            return lines.joined(separator: "\n")
        }
        lines.append("The cluster in \(address) is ready for its first node.")
        lines.append(
            hadTokenKeys
                ? "It uses the keys of device tokens and the authority of \(directory)."
                : "It has new keys of device tokens and a new authority, which are also in \(directory).")
        lines.append(
            "The key of the cluster is in \(keyFile). Keep a copy in a safe place, and copy it to each other node.")
        if PrivateFile.exists("\(directory)/\(BackupFiles.database)"), !files.secrets.hasApps {
            lines.append(
                "This data directory has a store with SQLite, which nodes do not read. Before you start a node, copy it "
                    + "with 'posthorn migrate', if you need its apps and devices.")
        }
        return lines.joined(separator: "\n")
    }

    /// Returns the address of PostgreSQL, and that of this node.
    private static func addresses(
        _ configuration: ServerConfiguration
    ) throws(ServerError) -> (PostgresAddress, LinkedNode.Address) {
        guard let address = configuration.storeAddress else {
            throw .configuration(
                ConfigurationError(
                    place: "[store] url",
                    problem: "the nodes of a cluster share a store in PostgreSQL, which is not set.",
                    remedy: "Set url to the address of PostgreSQL, for example postgresql://posthorn@db1/posthorn."))
        }
        guard let link = configuration.linkAddress else {
            throw .configuration(
                ConfigurationError(
                    place: "[cluster] address", problem: "the address at which other nodes reach this one is not set.",
                    remedy: "Set it to the host and port of this node, for example n1.internal:2197."))
        }
        return (address, link)
    }

    /// Gives the files to the user of the server, when root has made them.
    private static func giveFiles(of directory: String, and keyFile: String) throws(ServerError) {
        let names = BackupFiles.small + ["server.pem", "server.key", "server.names"]
        try ServerError.wrapping { () throws(NetError) in
            for path in names.map({ "\(directory)/\($0)" }) + [keyFile] where PrivateFile.exists(path) {
                try PrivateFile.giveToOwnerOfDirectory(path)
            }
        }
    }
}
