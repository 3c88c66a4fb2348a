// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// A lock that one process holds until it ends (`flock(2)`); the kernel releases it with the process.
package final class FileLock: Sendable {
    private let file: FileDescriptor

    private init(_ file: consuming FileDescriptor) { self.file = file }

    /// Acquires the lock unless another process holds it.
    ///
    /// - Parameter path: The lock file, created with mode 0600 if it is missing; a symbolic link is rejected.
    /// - Returns: The lock, which is unlocked when it is deallocated; nil if another process holds it.
    /// - Throws: `NetError.system` if the file cannot be opened or locked.
    package static func take(_ path: String) throws(NetError) -> FileLock? {
        let descriptor = unsafe open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .system(call: "open", code: errno, subject: path) }
        let lock = FileLock(FileDescriptor(adopting: descriptor))
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return lock }
        guard errno == EWOULDBLOCK else { throw .system(call: "flock", code: errno, subject: path) }
        return nil
    }
}
