// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A counting semaphore, on which a worker waits for jobs.
// Safety: the semaphore is made for several threads, and the pointer never changes.
@safe
final class WorkerSignal: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        unsafe semaphore = .allocate(capacity: 1)
        let code = unsafe sem_init(semaphore, 0, 0)
        precondition(code == 0, "sem_init failed: errno \(errno)")
    }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    func signal() { unsafe sem_post(semaphore) }

    func wait() { while unsafe sem_wait(semaphore) != 0, errno == EINTR {} }
}
