// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushNet

/// The file with the device secret, which has mode 0600 and is replaced atomically.
package struct SecretFile: Sendable {
    /// The maximum length of a secret in bytes.
    package static let byteCountMax = 4096

    private let path: String

    /// Creates an object for a path without opening the file.
    package init(path: String) { self.path = path }

    /// Reads the secret; nil if the file is missing or empty.
    ///
    /// A file that other users can access gets mode 0600 first, with a warning, because they may know the secret.
    ///
    /// - Returns: The visible ASCII characters of the file.
    /// - Throws: `StorageError.file` if it cannot be read, or is not a regular file (`EINVAL`; `ELOOP` for a link).
    package func read() throws(StorageError) -> String? {
        var information = stat()
        // This check comes before the open, because opening a pipe would wait for a writer.
        guard unsafe lstat(path, &information) == 0 else {
            guard errno == ENOENT else { throw .file(path: path, code: errno) }
            return nil
        }
        guard information.st_mode & S_IFMT == S_IFREG else {
            throw .file(path: path, code: information.st_mode & S_IFMT == S_IFLNK ? ELOOP : EINVAL)
        }
        if information.st_mode & 0o077 != 0 {
            guard unsafe chmod(path, 0o600) == 0 else { throw .file(path: path, code: errno) }
            agentLog.warning("secret_was_open_to_others", ["path": path])
        }
        // The secret is sent in a header field, so it consists of visible ASCII characters only.
        let secret = try bytes().filter { $0 > 32 && $0 < 127 }
        return secret.isEmpty ? nil : String(decoding: secret, as: UTF8.self)
    }

    private func bytes() throws(StorageError) -> [UInt8] {
        do throws(NetError) {
            return try PrivateFile.read(path, byteCountMax: Self.byteCountMax)
        } catch {
            throw StorageError(path, error)
        }
    }

    /// Replaces the secret; afterwards it survives a power failure.
    package func write(_ secret: String) throws(StorageError) {
        do throws(NetError) {
            try PrivateFile.write(Array(secret.utf8), to: path)
        } catch {
            throw StorageError(path, error)
        }
    }

    /// Removes the secret; a missing file is not an error.
    package func remove() throws(StorageError) {
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw .file(path: path, code: errno) }
        try syncDirectory()
    }

    private func syncDirectory() throws(StorageError) {
        let directory = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? "."
        let descriptor = unsafe Glibc.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .directory(path: directory, code: errno) }
        let file = FileDescriptor(adopting: descriptor)
        guard fsync(file.rawValue) == 0 else { throw .directory(path: directory, code: errno) }
    }
}
