// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import Glibc

/// The signals that the programs handle.
package enum Signal {
    /// Requests an orderly exit.
    package static let terminate = SIGTERM
    /// Requests an orderly exit, from the keyboard.
    package static let interrupt = SIGINT
    /// Requests that the configuration and the certificate are read again.
    package static let hangUp = SIGHUP
    /// Requests that the program's file replaces the process.
    package static let user2 = SIGUSR2

    /// Blocks SIGHUP and SIGUSR2, which would end a program that cannot handle them yet.
    ///
    /// Call it before any thread starts. The signals stay pending until a `SignalQueue` takes them. Also resets
    /// SIGCHLD, because a process that inherited it as ignored does not get the exit status of its children.
    package static func blockRequests() {
        setRequests(SIG_BLOCK)
        _ = signal(SIGCHLD, SIG_DFL)
    }

    /// Unblocks SIGHUP and SIGUSR2, in a program that will not handle them.
    package static func unblockRequests() { setRequests(SIG_UNBLOCK) }

    private static func setRequests(_ change: Int32) {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, hangUp)
        unsafe sigaddset(&set, user2)
        unsafe pthread_sigmask(change, &set, nil)
    }

    /// Makes a write to a closed connection fail with `EPIPE` instead of killing the process.
    package static func ignoreBrokenPipes() { _ = signal(SIGPIPE, SIG_IGN) }
}

/// Information about this process and machine.
package enum ProcessFacts {
    /// The ID of this process.
    package static var processID: Int32 { getpid() }
    /// Whether this process runs as root.
    package static var isRoot: Bool { geteuid() == 0 }
    /// The effective user ID of this process.
    package static var userID: UInt32 { geteuid() }
    /// The name of this machine; empty if it has none.
    package static var hostName: String {
        var text = [CChar](repeating: 0, count: Int(HOST_NAME_MAX) + 1)
        guard unsafe gethostname(&text, text.count - 1) == 0 else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    /// Whether a time service keeps the clock synchronized; nil if the kernel does not tell.
    package static var isClockSynchronized: Bool? {
        var state = timex()
        guard unsafe adjtimex(&state) >= 0 else { return nil }
        return state.status & STA_UNSYNC == 0
    }
    /// The number of online processors, at least 1.
    package static var processorCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}
