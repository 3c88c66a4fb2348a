// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// The file with the key of the cluster, and the files beside it while the key is replaced.
///
/// ```
/// cluster.key            the key in use
/// cluster.key.next       the key that will be used; a node accepts both
/// cluster.key.previous   the key before the last rotation, which opens older backups
/// ```
struct ClusterKeyFiles: Sendable {
    /// The file with the key in use.
    let path: String

    /// The file with the key that will be used.
    var nextPath: String { path + ".next" }
    /// The file with the key before the last rotation.
    var previousPath: String { path + ".previous" }

    var exists: Bool { PrivateFile.exists(path) }
    var nextExists: Bool { PrivateFile.exists(nextPath) }

    /// Reads the key in use.
    func current() throws(ClusterKeyError) -> ClusterKey {
        guard exists else {
            throw ClusterKeyError(
                path: path, problem: "The key of the cluster is missing, and the cluster has secrets already.",
                remedy: "Copy the file from another node of the cluster.")
        }
        return try ClusterKey(file: path)
    }

    /// Reads the key that will be used; nil without one.
    func next() throws(ClusterKeyError) -> ClusterKey? { nextExists ? try ClusterKey(file: nextPath) : nil }

    /// Finds the key that opens all secrets: the one in use, or the next one.
    ///
    /// - Parameter rows: The secrets.
    /// - Returns: The key, and the secrets that it opened.
    /// - Throws: `ClusterKeyError` if no file has such a key.
    func open(_ rows: SealedRows) throws(ClusterKeyError) -> (key: ClusterKey, secrets: [String: [UInt8]]) {
        if let current = try? current(), let secrets = rows.opened(by: current) { return (current, secrets) }
        if let next = try next(), let secrets = rows.opened(by: next) { return (next, secrets) }
        _ = try current()
        throw ClusterKeyError(
            path: path, problem: "The key does not open the secrets of the cluster.",
            remedy: "Copy the file from another node of the cluster.")
    }

    /// Writes a key to the file of the key in use, and keeps the earlier one in the file of the previous key.
    ///
    /// When this is interrupted, the file of the next key still exists. So the key is not lost, and the next start
    /// repeats the rest.
    func use(_ key: ClusterKey) throws(ClusterKeyError) {
        let former = try? ClusterKey(file: path)
        if former?.bytes != key.bytes {
            try former?.write(to: previousPath)
            try key.write(to: path)
        }
        if let next = try next(), next.bytes == key.bytes { forgetNext() }
    }

    /// Removes the file of the next key.
    func forgetNext() { PrivateFile.remove(nextPath) }
}
