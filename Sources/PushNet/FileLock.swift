// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// A lock that one process holds for as long as it lives (`flock(2)`); the kernel drops it with the process.
package final class FileLock: Sendable {
    private let file: FileDescriptor

    private init(_ file: consuming FileDescriptor) { self.file = file }

    /// Takes the lock, or finds it taken.
    ///
    /// - Parameter path: The file, made with mode 0600 if it is missing; a symbolic link is refused.
    /// - Returns: The lock, which is given back when it is released; nil when another process holds it.
    /// - Throws: `NetError.system` when the file cannot be opened or locked.
    package static func take(_ path: String) throws(NetError) -> FileLock? {
        let descriptor = unsafe open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .system(call: "open", code: errno, subject: path) }
        let lock = FileLock(FileDescriptor(adopting: descriptor))
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return lock }
        guard errno == EWOULDBLOCK else { throw .system(call: "flock", code: errno, subject: path) }
        return nil
    }
}
