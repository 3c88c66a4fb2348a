// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The signals that the programs handle.
package enum Signal {
    /// Requests an orderly exit.
    package static let terminate = SIGTERM
    /// Requests an orderly exit, from the keyboard.
    package static let interrupt = SIGINT
    /// Requests that certificates are reloaded.
    package static let hangUp = SIGHUP

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
    /// The number of online processors, at least 1.
    package static var processorCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}
