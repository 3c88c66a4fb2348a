// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// The lock that prevents a second agent of the same user, for the lifetime of this object.
package final class AgentLock {
    private let lock: FileLock

    /// Takes the lock, or throws an error if another agent has it.
    package init(path: String) throws(StorageError) {
        let taken: FileLock?
        do throws(NetError) { taken = try FileLock.take(path) } catch {
            guard case .system(_, let code, _) = error else {
                preconditionFailure("FileLock threw NetError.badAddress")
            }
            throw .file(path: path, code: code)
        }
        guard let taken else { throw .alreadyRunning(lockPath: path) }
        lock = taken
    }
}
