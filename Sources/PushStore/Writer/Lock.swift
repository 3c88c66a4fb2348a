// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A value that one thread at a time may use; over a pthread mutex, which the thread sanitizer understands.
// Safety: `mutex` guards `value`, which leaves `withLock` only as the caller's result.
@safe
final class Lock<Value>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    init(_ value: Value) {
        self.value = value
        unsafe mutex = .allocate(capacity: 1)
        let code = unsafe pthread_mutex_init(mutex, nil)
        precondition(code == 0, "a mutex could not be made (error number \(code))")
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Uses the value; the body must not come back here.
    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        let code = unsafe pthread_mutex_lock(mutex)
        precondition(code == 0, "a mutex could not be locked (error number \(code))")
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(&value)
    }
}
