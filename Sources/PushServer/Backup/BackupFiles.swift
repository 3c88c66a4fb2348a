// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import PushCore
internal import PushNet
internal import PushTLS

/// The contents of a backup: files of the data directory, and their SHA-256 in the format of `sha256sum`.
///
/// ```
/// posthorn.sqlite                the database, as it was when the copy was complete
/// token.keys  team-id            the basis of every device token and provider token
/// authority.pem  authority.key   trusted by devices and providers
/// authority-next.pem  .key       the authority after a rotation that has begun
/// authorities.json  .pem         the authorities that the server announces to devices
/// SHA256SUMS                     written last: a directory without it is not a backup
/// ```
/// The server's own certificate is not included, because the authority issues another one at the next start.
enum BackupFiles {
    static let database = "posthorn.sqlite"
    static let sums = "SHA256SUMS"
    /// The files that are copied beside the database; those of the authority may have been removed.
    static let small = [
        "token.keys", "team-id", "authority.pem", "authority.key", "authority-next.pem", "authority-next.key",
        "authorities.json", "authorities.pem",
    ]
    /// The files without which a server cannot continue where it was.
    static let necessary = [database, "token.keys", "team-id"]

    /// Returns the mode of a file in the data directory.
    static func mode(of name: String) -> UInt32 {
        ["authority.pem", "authority-next.pem", "authorities.pem"].contains(name) ? 0o644 : 0o600
    }

    /// Returns the SHA-256 of a file of any size, in hexadecimal digits.
    static func hash(_ path: String) throws(NetError) -> String {
        var hash = SHA256.Running()
        try PrivateFile.forEachChunk(of: path) { chunk throws(NetError) in hash.add(chunk.span) }
        var digits: [UInt8] = []
        Hex.append(hash.finish().span, to: &digits)
        return String(decoding: digits, as: UTF8.self)
    }

    /// Writes the hashes of the files in a directory.
    static func writeSums(in directory: String) throws(NetError) {
        var text = ""
        for name in [database] + small where PrivateFile.exists("\(directory)/\(name)") {
            text += "\(try hash("\(directory)/\(name)"))  \(name)\n"
        }
        try PrivateFile.write(Array(text.utf8), to: "\(directory)/\(sums)")
    }

    /// Returns whether a directory contains nothing but files of a backup, which may be incomplete.
    static func fill(_ directory: String) -> Bool {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory) else { return false }
        let ofSQLite = ["", "-journal", "-wal", "-shm"].map { database + $0 }
        return names.allSatisfy { (ofSQLite + [sums] + small).contains($0) }
    }

    /// Reads the hashes of a backup.
    ///
    /// - Parameter directory: The backup.
    /// - Returns: Names and hashes. Only files of a backup are among them, all necessary ones are, and each file
    ///   exists.
    /// - Throws: The problem with the backup, and what to do about it.
    static func readSums(in directory: String) throws(InstallationError) -> [(name: String, hash: String)] {
        let path = "\(directory)/\(sums)"
        guard PrivateFile.exists(path) else {
            throw InstallationError(
                path: directory, problem: "The directory has no file \(sums), so it is not a complete backup.",
                remedy: "Specify the directory that `posthorn backup` created.")
        }
        var found: [(name: String, hash: String)] = []
        for line in try Installation.load(path).split(separator: UInt8(ascii: "\n")) {
            let words = String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
            guard words.count == 2, ([database] + small).contains(words[1]) else {
                throw damaged(path, "A line is invalid")
            }
            found.append((words[1], words[0]))
        }
        guard necessary.allSatisfy({ name in found.contains { $0.name == name } }) else {
            throw damaged(path, "A required file is not listed")
        }
        if let (name, _) = found.first(where: { !PrivateFile.exists("\(directory)/\($0.name)") }) {
            throw damaged("\(directory)/\(name)", "The file is missing")
        }
        return found
    }

    /// Returns the error for a damaged backup; the default problem is a wrong checksum.
    static func damaged(_ path: String, _ what: String = "The file's SHA-256 differs from \(sums)") -> InstallationError
    {
        InstallationError(
            path: path, problem: "\(what): the backup is damaged.", remedy: "Restore an older backup.")
    }
}
