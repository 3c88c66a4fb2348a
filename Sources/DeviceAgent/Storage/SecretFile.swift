// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushNet

/// The device secret in a file of its own, mode 0600, which is replaced as a whole.
package struct SecretFile: Sendable {
    /// The longest secret that is read, in bytes.
    static let byteCountMax = 4096

    private let path: String

    /// Names the file; nothing is opened.
    package init(path: String) { self.path = path }

    /// The secret; nil when there is none.
    ///
    /// A file that others may use is taken back from them first, with a warning: they may know the secret by now.
    ///
    /// - Returns: The secret's visible characters.
    /// - Throws: `StorageError.file` when it cannot be read, or is no regular file (`EINVAL`; `ELOOP` for a link).
    package func read() throws(StorageError) -> String? {
        var information = stat()
        // Before anything is opened: a pipe would wait for a writer.
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
        // It goes into a header field: only visible ASCII can be a secret of ours.
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

    /// Replaces the secret; when this returns, it survives a loss of power.
    package func write(_ secret: String) throws(StorageError) {
        do throws(NetError) {
            try PrivateFile.write(Array(secret.utf8), to: path)
        } catch {
            throw StorageError(path, error)
        }
    }

    /// Removes the secret; one that is not there is no error.
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
