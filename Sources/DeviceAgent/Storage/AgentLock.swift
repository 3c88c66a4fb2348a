// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// Keeps a second agent of the same person away, for as long as it lives.
package final class AgentLock {
    private let lock: FileLock

    /// Takes the lock, or says that another agent has it.
    package init(path: String) throws(StorageError) {
        let taken: FileLock?
        do throws(NetError) { taken = try FileLock.take(path) } catch {
            guard case .system(_, let code, _) = error else { preconditionFailure("a lock needs no address") }
            throw .file(path: path, code: code)
        }
        guard let taken else { throw .alreadyRunning(lockPath: path) }
        lock = taken
    }
}
