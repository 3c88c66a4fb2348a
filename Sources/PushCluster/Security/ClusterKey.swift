// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushTLS

/// The secret key of a cluster, which every node has in a file.
///
/// The file has mode 0600 and contains 64 hexadecimal digits and a newline, so that an administrator can copy it.
package struct ClusterKey: Sendable {
    static let byteCount = AuthenticatedCipher.keyByteCount

    /// The 32 bytes of the key.
    let bytes: [UInt8]

    /// Reads a key from its file.
    ///
    /// - Parameter path: The file.
    /// - Throws: `ClusterKeyError` for a file that is missing, open to other users, or has no key.
    package init(file path: String) throws(ClusterKeyError) {
        let text = try ClusterKeyError.wrapping(path) { () throws(NetError) in try PrivateFile.read(path) }
        let isOpen = try ClusterKeyError.wrapping(path) { () throws(NetError) in try PrivateFile.isOpenToOthers(path) }
        guard !isOpen else {
            throw ClusterKeyError(
                path: path, problem: "Other users can read or write the key of the cluster.",
                remedy: "Run chmod 600 \(path).")
        }
        let digits = text.last == UInt8(ascii: "\n") ? Array(text.dropLast()) : text
        guard let bytes = Hex.decode(digits.span), bytes.count == Self.byteCount else {
            throw ClusterKeyError(
                path: path, problem: "The file does not contain 64 hexadecimal digits.",
                remedy: "Copy the file from another node of the cluster.")
        }
        self.bytes = bytes
    }

    /// Creates a random key in a new file.
    ///
    /// - Parameter path: The file, which must not exist: the secrets of its cluster would be lost.
    /// - Returns: The key.
    /// - Throws: `ClusterKeyError` if the file exists or cannot be written.
    package static func make(file path: String) throws(ClusterKeyError) -> ClusterKey {
        guard !PrivateFile.exists(path) else {
            throw ClusterKeyError(
                path: path, problem: "The file exists already.",
                remedy: "Use the key in it, or move the file away if its cluster is no longer used.")
        }
        return try ClusterKey(bytes: SecureRandom.bytes(count: byteCount)).write(to: path)
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// Writes the key to a file, and replaces a file that exists.
    ///
    /// - Parameter path: The file.
    /// - Returns: The key.
    /// - Throws: `ClusterKeyError` if the file cannot be written.
    @discardableResult
    func write(to path: String) throws(ClusterKeyError) -> ClusterKey {
        var text: [UInt8] = []
        Hex.append(bytes.span, to: &text)
        try ClusterKeyError.wrapping(path) { () throws(NetError) in
            try PrivateFile.write(text + [UInt8(ascii: "\n")], to: path)
        }
        return try ClusterKey(file: path)
    }
}

/// A file of a cluster's key that cannot be used, and how to correct it.
package struct ClusterKeyError: Error, Sendable {
    package var path: String
    package var problem: String
    /// One imperative sentence.
    package var remedy: String

    init(path: String, problem: String, remedy: String) {
        (self.path, self.problem, self.remedy) = (path, problem, remedy)
    }

    /// Creates the error of a node with the key of a cluster, and a database without one.
    init(withoutCluster path: String) {
        self.init(
            path: path, problem: "The file has the key of a cluster, but the database has no cluster.",
            remedy:
                "Set [store] url to the database of the cluster. To begin another cluster, move this file away, and run "
                + "'posthorn cluster init'.")
    }

    /// The two lines of text for the administrator.
    package var description: String { "\(path): \(problem)\n\(remedy)" }

    /// The same text in one line.
    var line: String { "\(path): \(problem) \(remedy)" }

    fileprivate static func wrapping<Value>(
        _ path: String, _ body: () throws(NetError) -> Value
    ) throws(ClusterKeyError) -> Value {
        do throws(NetError) {
            return try body()
        } catch {
            throw ClusterKeyError(
                path: path, problem: "Cannot use the key of the cluster: \(error.description).", remedy: error.advice)
        }
    }
}
