// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An owned file descriptor, closed at the end of its life.
@safe package struct FileDescriptor: ~Copyable, Sendable {
    /// The number, for system calls and epoll while the owner lives.
    package let rawValue: Int32

    /// Takes ownership of an open descriptor.
    package init(adopting rawValue: Int32) {
        precondition(rawValue >= 0, "no descriptor has the number \(rawValue)")
        self.rawValue = rawValue
    }

    /// Opens a reserve descriptor, to be closed when no others are left; nil if none is left already.
    package static func spare() -> FileDescriptor? {
        let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        return descriptor < 0 ? nil : FileDescriptor(adopting: descriptor)
    }

    /// Closes the descriptor with `close(2)`.
    ///
    /// The call is never retried after EINTR: Linux has freed the number by then, and another thread may already have
    /// it.
    deinit {
        guard close(rawValue) != 0 else { return }
        precondition(errno != EBADF, "descriptor \(rawValue) was closed by code that does not own it")
    }
}
