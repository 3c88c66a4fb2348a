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
    /// Connections in all; nil for what the limit of open files allows.
    package var connectionCountMax: Int?
    /// Connections of one address, or of one /64 network of IPv6; nil for half of all.
    package var connectionsPerAddressCountMax: Int?
    /// Connections without a proven credential; nil for three quarters of all.
    package var unauthenticatedConnectionCountMax: Int?
    /// The time for which a connection may stay without a proven credential.
    package var strangerPatience = Limits.strangerPatience
    /// The bytes that connections may hold in memory; nil for half of what the process may use.
    package var memoryBudgetByteCount: Int?
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
    /// Rates of strangers and devices.
    package var principalLimits = PrincipalLimits()
    /// Whether it is written down what becomes of notifications.
    package var hasTrace = true
    /// How long that is kept.
    package var traceLifeSeconds = Limits.traceLifeSecondsDefault
    /// How much of it is kept.
    package var traceByteCountMax = Limits.traceByteCountDefault
    /// PEM file of authorities that webhooks trust; nil for those of the system.
    package var webhookAuthorityFile: String?
    /// The least important log level that is written.
    package var logLevel: EventLog.Level = .info
    /// Standard error is the journal.
    package var isJournal = false
    /// Set for `--ephemeral`.
    package var ephemeral: Ephemeral?

    /// The bounds of connections for the limit of open files that holds now.
    var connectionCaps: ConnectionLimiter.Caps {
        ConnectionLimiter.Caps(
            descriptorCount: ProcessLimits.descriptorCountMax, all: connectionCountMax,
            strangers: unauthenticatedConnectionCountMax, perNetwork: connectionsPerAddressCountMax)
    }

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
