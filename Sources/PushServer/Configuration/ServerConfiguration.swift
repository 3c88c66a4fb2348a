// SPDX-License-Identifier: Apache-2.0

internal import PushCore
package import PushNet
package import PushStore

/// What the server runs with, after flags, environment and file were joined.
package struct ServerConfiguration: Sendable {
    /// Where everything that must survive lives; made with mode 0700.
    package var dataDirectory: String
    /// Where providers and devices come in, at least one address; the server name decides the environment.
    package var listen = [ListenAddress(host: "*", port: 2197)]
    /// The same for development alone, whatever the server name.
    package var developmentListen: [ListenAddress] = []
    /// Where channels are managed, and nothing else is done.
    package var channelListen: [ListenAddress] = []
    /// The same for development alone.
    package var developmentChannelListen: [ListenAddress] = []
    /// Whether channels are managed on the common ports, too.
    package var managesChannelsOnProviderPorts = true
    /// Server names, in lower case, that mean development on a port of both.
    package var developmentNames: [String] = []
    /// DNS names and addresses that the server's own certificate is made for; empty for this host's name.
    package var names: [String] = []
    /// PEM chain; nil for a certificate of the server's own authority.
    package var certificateFile: String?
    /// PEM key that belongs to it.
    package var privateKeyFile: String?
    /// PEM files of authorities, beside the server's own, whose client certificates are believed.
    package var clientAuthorityFiles: [String] = []
    /// New provider tokens that one connection may bring in 20 minutes.
    package var providerTokenUpdateCountMax = Limits.providerTokenUpdateCountMax
    /// Streams that SETTINGS allow before the first good authentication.
    package var unauthenticatedStreamCountMax = Limits.concurrentStreamCountMax
    /// How long a device may stay away before its device tokens expire; nil for ever.
    package var tokenLifeSeconds: Int64? = Limits.tokenLifeSecondsDefault
    /// UNIX socket of the admin API.
    package var adminSocket: String
    /// Loop threads; nil for one a core.
    package var loopCount: Int?
    /// Whether a device may enrol without a code.
    package var hasOpenEnrolment = false
    /// Notifications of one app that wait for one device.
    package var pendingPerTopicCountMax = Limits.pendingPerTopicCountMax
    /// Notifications of all apps that wait for one device; nil for the default.
    package var pendingPerDeviceCountMax: Int?
    /// How long what has no haste is kept back from a device that saves power, in seconds.
    package var gatheringSeconds: Int64 = 60
    /// What an accepted notification survives.
    package var durability = StoreDurability.full
    /// Rates and quotas that hold unless they are set otherwise for a team, key or app.
    package var quotas = QuotaDefaults()
    /// The least important log level that is written.
    package var logLevel: EventLog.Level = .info
    /// Standard error is the journal.
    package var isJournal = false
    /// Set for `--ephemeral`.
    package var ephemeral: Ephemeral?

    /// The first address to listen on.
    package var host: String { listen.first?.host ?? "*" }
    /// The first port.
    package var port: UInt16 { listen.first?.port ?? 0 }

    /// A server for a test run.
    package struct Ephemeral: Sendable {
        /// Topics to make, each with a built-in device.
        package var topics: [String]
        /// Where its directory is made.
        package var parentDirectory: String
        /// Whether it has everything that a test of the whole provider API needs.
        package var isFull = false
        /// Where everything is written as shell variables; nil for nowhere.
        package var environmentFile: String?
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
