// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// One thread of the system, for the writer; it gets no signals.
struct WriterThread: Sendable {
    private let thread: pthread_t

    /// Starts a thread that runs a body once; nil with the error number when the system gives none.
    static func start(_ body: @escaping @Sendable () -> Void) -> Result<WriterThread, ThreadError> {
        let context = unsafe Unmanaged.passRetained(ThreadBody(run: body))
        // Signals are for the threads that handle them: the new thread inherits a mask that blocks all.
        var (all, before) = (sigset_t(), sigset_t())
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_BLOCK, &all, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let code = unsafe pthread_create(&thread, nil, runThreadBody, context.toOpaque())
        guard code == 0 else {
            unsafe context.release()
            return .failure(ThreadError(code: code))
        }
        return .success(WriterThread(thread: thread))
    }

    /// Waits for the thread's end; once only, and not from the thread itself.
    func join() {
        let code = pthread_join(thread, nil)
        precondition(code == 0, "the store's thread was joined twice or by itself (error number \(code))")
    }
}

/// The system gave no thread.
struct ThreadError: Error {
    var code: Int32
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(run: @escaping @Sendable () -> Void) { self.run = run }
}

private func runThreadBody(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let context = unsafe context { unsafe Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run() }
    return nil
}
