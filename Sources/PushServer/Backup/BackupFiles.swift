// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet
internal import PushTLS

/// What a backup holds: a directory of files of the data directory, and their SHA-256 as `sha256sum` writes them.
///
/// ```
/// posthorn.sqlite                the database, as it was when the copy was complete
/// token.keys  team-id            what every device token and provider token was made with
/// authority.pem  authority.key   what devices and providers trust
/// SHA256SUMS                     written last: a directory without it is no backup
/// ```
/// The server's own certificate is not in it: the authority issues another one at the next start.
enum BackupFiles {
    static let database = "posthorn.sqlite"
    static let sums = "SHA256SUMS"
    /// What is copied beside the database; the authority may have been taken away.
    static let small = ["token.keys", "team-id", "authority.pem", "authority.key"]
    /// Without these a server cannot go on where it was.
    static let necessary = [database, "token.keys", "team-id"]

    /// The mode that the data directory's files have.
    static func mode(of name: String) -> UInt32 { name == "authority.pem" ? 0o644 : 0o600 }

    /// The hash of a file of any size.
    static func hash(_ path: String) throws(NetError) -> String {
        var hash = SHA256.Running()
        try PrivateFile.forEachChunk(of: path) { chunk throws(NetError) in hash.add(chunk.span) }
        var digits: [UInt8] = []
        Hex.append(hash.finish().span, to: &digits)
        return String(decoding: digits, as: UTF8.self)
    }

    /// Writes the hashes of what lies in a directory.
    static func writeSums(in directory: String) throws(NetError) {
        var text = ""
        for name in [database] + small where PrivateFile.exists("\(directory)/\(name)") {
            text += "\(try hash("\(directory)/\(name)"))  \(name)\n"
        }
        try PrivateFile.write(Array(text.utf8), to: "\(directory)/\(sums)")
    }

    /// Reads the hashes of a backup, by name.
    ///
    /// - Parameter directory: The backup.
    /// - Returns: Only names that a backup has, the necessary ones among them; each of the files is there.
    /// - Throws: What is wrong with it, and what to do.
    static func readSums(in directory: String) throws(InstallationError) -> [(name: String, hash: String)] {
        let path = "\(directory)/\(sums)"
        guard PrivateFile.exists(path) else {
            throw InstallationError(
                path: directory, problem: "There is no \(sums) in it, so it is no backup, or not a whole one.",
                remedy: "Name the directory that `posthorn backup` made.")
        }
        var found: [(name: String, hash: String)] = []
        for line in try Installation.load(path).split(separator: UInt8(ascii: "\n")) {
            let words = String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
            guard words.count == 2, ([database] + small).contains(words[1]) else { throw damaged(path) }
            found.append((words[1], words[0]))
        }
        guard necessary.allSatisfy({ name in found.contains { $0.name == name } }) else { throw damaged(path) }
        if let (name, _) = found.first(where: { !PrivateFile.exists("\(directory)/\($0.name)") }) {
            throw damaged("\(directory)/\(name)", "It is missing")
        }
        return found
    }

    /// The backup is not what was written.
    static func damaged(_ path: String, _ what: String = "It is not what was written") -> InstallationError {
        InstallationError(
            path: path, problem: "\(what): the backup is damaged.", remedy: "Restore another backup, an older one.")
    }
}
