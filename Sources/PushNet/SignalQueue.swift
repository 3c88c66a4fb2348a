// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// A queue of signals as messages (signalfd).
///
/// Create it before any thread starts, so that all threads block the signals.
package final class SignalQueue {
    private let file: FileDescriptor

    /// Blocks the signals in this thread and in threads that it starts later, and opens the queue.
    ///
    /// - Parameter signals: The signal numbers, for example `SIGTERM`.
    /// - Throws: `NetError.system` if a number is not a signal or no descriptors are left.
    package init(_ signals: [Int32]) throws(NetError) {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for signal in signals {
            _ = try syscall("sigaddset", about: "signal \(signal)") { unsafe sigaddset(&set, signal) }
        }
        let code = unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        guard code == 0 else { throw systemFailure("pthread_sigmask", code) }
        let flags = Int32(SFD_NONBLOCK | SFD_CLOEXEC)
        guard let descriptor = try syscall("signalfd", { unsafe signalfd(-1, &set, flags) }) else {
            throw systemFailure("signalfd", EAGAIN)
        }
        file = FileDescriptor(adopting: descriptor)
    }

    /// The descriptor for `EventLoop.register`.
    package var descriptor: Int32 { file.rawValue }

    /// Returns the next signal; nil if none is waiting.
    package func next() throws(NetError) -> Int32? {
        var information = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        guard let byteCount = try syscall("read", about: "signalfd", { unsafe read(file.rawValue, &information, size) })
        else { return nil }
        precondition(byteCount == size, "read returned \(byteCount) of \(size) bytes of a signal")
        return Int32(information.ssi_signo)
    }
}
