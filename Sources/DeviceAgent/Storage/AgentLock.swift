// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc
internal import PushNet

/// Keeps a second agent of the same person away, for as long as it lives; the kernel drops it with the process.
package final class AgentLock {
    private let file: FileDescriptor

    /// Takes the lock with flock(2).
    package init(path: String) throws(StorageError) {
        let descriptor = unsafe Glibc.open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .file(path: path, code: errno) }
        file = FileDescriptor(adopting: descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw errno == EWOULDBLOCK ? .alreadyRunning(lockPath: path) : .file(path: path, code: errno)
        }
    }
}
