// SPDX-License-Identifier: Apache-2.0

/// The rows of the table `secrets`, and the versions of the control data, as one statement found them.
struct SealedRows {
    /// The names of secrets.
    enum Name {
        /// The keys of device tokens, newest first: the first one seals.
        static let tokenKeys = "token.keys"
        /// The key of device tokens that will seal when all nodes can open its tokens.
        static let nextTokenKey = "token.keys.next"
        static let authorityCertificate = "links.pem"
        static let authorityKey = "links.key"
        /// A text that only the next key of the cluster opens.
        static let nextKeyCheck = "cluster.key.next"
    }

    /// The version of the control data, which each change of secrets raises.
    var controlVersion: Int64 = 0
    /// The number of changes of the secrets.
    var version: Int64 = 0
    /// The version at which a rotation of the cluster's key began; 0 without a rotation.
    var rotation: Int64 = 0
    /// The sealed secrets by name.
    var sealed: [String: [UInt8]] = [:]

    /// Opens all secrets that the key in use has sealed; returns nil if the key is another one.
    func opened(by key: ClusterKey) -> [String: [UInt8]]? {
        guard let seals = try? SealedSecrets(key) else { return nil }
        var secrets: [String: [UInt8]] = [:]
        for (name, value) in sealed where name != Name.nextKeyCheck {
            guard let secret = seals.open(value, name: name) else { return nil }
            secrets[name] = secret
        }
        return secrets
    }

    /// Returns whether a key is the one that a rotation waits for.
    func isNext(_ key: ClusterKey) -> Bool {
        guard rotation != 0, let check = sealed[Name.nextKeyCheck] else { return false }
        return (try? SealedSecrets(key))?.open(check, name: Name.nextKeyCheck) != nil
    }
}
