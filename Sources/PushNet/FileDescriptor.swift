// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Owns one file descriptor.
@safe package struct FileDescriptor: ~Copyable, Sendable {
    /// The number, lent for system calls and epoll.
    package let rawValue: Int32

    /// Adopts an open descriptor.
    package init(adopting rawValue: Int32) {
        precondition(rawValue >= 0, "no descriptor has the number \(rawValue)")
        self.rawValue = rawValue
    }

    /// A descriptor of nothing, to be given up when others ran out; nil when they ran out already.
    package static func spare() -> FileDescriptor? {
        let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        return descriptor < 0 ? nil : FileDescriptor(adopting: descriptor)
    }

    /// Closes it with `close(2)`.
    ///
    /// Never retried after EINTR, because Linux has freed the number by then and another thread may have it already.
    deinit {
        guard close(rawValue) != 0 else { return }
        precondition(errno != EBADF, "descriptor \(rawValue) was closed behind its owner's back")
    }
}
