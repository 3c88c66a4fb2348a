// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The signals that our programs listen to.
package enum Signal {
    /// End in order.
    package static let terminate = SIGTERM
    /// End in order, from the keyboard.
    package static let interrupt = SIGINT
    /// Read certificates again.
    package static let hangUp = SIGHUP

    /// Makes writing to a closed connection an error (`EPIPE`) instead of the end of the process.
    package static func ignoreBrokenPipes() { _ = signal(SIGPIPE, SIG_IGN) }
}

/// Facts about this process and machine.
package enum ProcessFacts {
    /// This process's id.
    package static var processID: Int32 { getpid() }
    /// Whether this process may do everything.
    package static var isRoot: Bool { geteuid() == 0 }
    /// The user that this process acts as.
    package static var userID: UInt32 { geteuid() }
    /// Processors that are in use, at least 1.
    package static var processorCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}
