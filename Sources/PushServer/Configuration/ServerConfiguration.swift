// SPDX-License-Identifier: Apache-2.0

internal import PushCore
package import PushNet

/// What the server runs with, after flags, environment and file were joined.
package struct ServerConfiguration: Sendable {
    /// Where everything that must survive lives; made with mode 0700.
    package var dataDirectory: String
    /// Address to listen on; `*` is every address, IPv6 and IPv4.
    package var host: String = "*"
    /// Port for providers and devices; 0 lets the kernel choose.
    package var port: UInt16 = 2197
    /// DNS names and addresses that the server's own certificate is made for; empty for this host's name.
    package var names: [String] = []
    /// PEM chain; nil for a certificate of the server's own authority.
    package var certificateFile: String?
    /// PEM key that belongs to it.
    package var privateKeyFile: String?
    /// UNIX socket of the admin API.
    package var adminSocket: String
    /// Loop threads; nil for one a core.
    package var loopCount: Int?
    /// Whether a device may enrol without a code.
    package var hasOpenEnrolment = false
    /// Notifications of one app that wait for one device.
    package var pendingPerTopicCountMax = Limits.pendingPerTopicCountMax
    /// The least important log level that is written.
    package var logLevel: EventLog.Level = .info
    /// Standard error is the journal.
    package var isJournal = false
    /// Set for `--ephemeral`.
    package var ephemeral: Ephemeral?

    /// A server for a test run.
    package struct Ephemeral: Sendable {
        /// Topics to make, each with a built-in device.
        package var topics: [String]
        /// Where its directory is made.
        package var parentDirectory: String
    }
}

/// What is wrong with flags, environment or file, and what to do about it.
package struct ConfigurationError: Error, Sendable {
    /// `FILE:LINE`, the name of a flag or of a variable.
    package var place: String
    /// What is wrong.
    package var problem: String
    /// One imperative sentence.
    package var remedy: String

    /// The two lines that a person reads.
    package var description: String { "\(place): \(problem)\n\(remedy)" }
}
