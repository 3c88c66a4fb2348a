// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A value protected by a pthread mutex (the thread sanitizer does not understand `Synchronization.Mutex`).
///
/// Not recursive. Make no calls to other objects while it is held.
// Safety: `value` is only accessed between pthread_mutex_lock and pthread_mutex_unlock.
@safe package final class Lock<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    /// Creates a lock that protects the value.
    package init(_ value: sending Value) {
        unsafe mutex = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        self.value = value
        let code = unsafe pthread_mutex_init(mutex, nil)
        precondition(code == 0, "pthread_mutex_init failed: \(code)")
    }

    deinit {
        let code = unsafe pthread_mutex_destroy(mutex)
        precondition(code == 0, "a lock was destroyed while it was held: \(code)")
        unsafe mutex.deallocate()
    }

    /// Runs the body with exclusive access to the value.
    ///
    /// - Parameter body: Reads or changes the value. It must be short and must call nothing that may take a lock.
    /// - Returns: The result of the body.
    /// - Throws: The error of the body; the lock is released then, too.
    package func withLock<Result, Failure>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let code = unsafe pthread_mutex_lock(mutex)
        precondition(code == 0, "pthread_mutex_lock failed: \(code)")
        defer {
            let code = unsafe pthread_mutex_unlock(mutex)
            precondition(code == 0, "pthread_mutex_unlock failed: \(code)")
        }
        return try body(&value)
    }
}
