// SPDX-License-Identifier: Apache-2.0

internal import PushCluster
internal import PushCore
internal import PushNet
internal import PushPostgres
internal import PushServing
internal import PushStore

/// The settings of the server, combined from options, environment and file.
package struct ServerConfiguration: Sendable {
    /// The directory for all persistent data; created with mode 0700.
    var dataDirectory: String
    /// The addresses for providers and devices, at least one; the server name selects the environment.
    var listen = [ListenAddress(host: "*", port: 2197)]
    /// The addresses for the development environment only, regardless of the server name.
    var developmentListen: [ListenAddress] = []
    /// The addresses for channel management only.
    var channelListen: [ListenAddress] = []
    /// The addresses for channel management in the development environment only.
    var developmentChannelListen: [ListenAddress] = []
    /// Whether the addresses of `listen` also accept channel management.
    var managesChannelsOnProviderPorts = true
    /// Server names, in lower case, that select the development environment on a port that serves both.
    var developmentNames: [String] = []
    /// The DNS names and addresses in the server's own certificate; empty for this host's name.
    var names: [String] = []
    /// The certificate chain in PEM; nil for a certificate of the server's own authority.
    var certificateFile: String?
    /// The private key of the certificate in PEM.
    var privateKeyFile: String?
    /// PEM files of authorities, besides the server's own, whose client certificates are trusted.
    var clientAuthorityFiles: [String] = []
    /// The maximum number of provider token updates per connection in 20 minutes.
    var providerTokenUpdateCountMax = Limits.providerTokenUpdateCountMax
    /// The number of streams in SETTINGS before the first successful authentication.
    var unauthenticatedStreamCountMax = Limits.concurrentStreamCountMax
    /// The time without a connection after which the device tokens of a device expire; nil means never.
    var tokenLifeSeconds: Int64? = Limits.tokenLifeSecondsDefault
    /// The addresses of proxies whose connections begin with a header of the PROXY protocol.
    var proxies: [AddressRange] = []
    /// The UNIX socket of the admin API.
    var adminSocket: String
    /// The address for monitoring; nil for none.
    var metricsListen: ListenAddress?
    /// The number of loop threads; nil for one per core.
    var loopCount: Int?
    /// The maximum number of connections; nil for the number that the open files and the memory budget allow.
    var connectionCountMax: Int?
    /// The maximum number of connections per address, or per IPv6 /64 network; nil for half of all.
    var connectionsPerAddressCountMax: Int?
    /// The maximum number of connections without a proven credential; nil for three quarters of all.
    var unauthenticatedConnectionCountMax: Int?
    /// The time that a connection may stay open without a proven credential.
    var authenticationTimeout = Limits.authenticationTimeout
    /// The maximum number of bytes that connections hold in memory; nil for half of what the process may use.
    var memoryBudgetByteCount: Int?
    /// Whether devices can enrol without a code.
    var hasOpenEnrolment = false
    /// The maximum number of pending notifications per app and device.
    var pendingPerTopicCountMax = Limits.pendingPerTopicCountMax
    /// The maximum number of pending notifications per device; nil for the default.
    var pendingPerDeviceCountMax: Int?
    /// The maximum delay of notifications that are not urgent for a device that saves power, in seconds.
    var powerSavingDelaySeconds: Int64 = 60
    /// The durability of accepted notifications.
    var durability = StoreDurability.full
    /// The address of PostgreSQL; nil for SQLite.
    var storeAddress: PostgresAddress?
    /// The addresses of the shards after the first.
    var shardAddresses: [PostgresAddress] = []
    /// The time that notifications and broadcasts wait while PostgreSQL does not answer, in seconds.
    var acceptPatienceSeconds: Int64 = 10
    /// The address at which other nodes reach this one; nil for a single server.
    var linkAddress: LinkedNode.Address?
    /// The file with the key of the cluster; nil for one in the data directory.
    var clusterKeyFile: String?
    /// The name of this node; nil for the host's name.
    var nodeName: String?
    /// The rates and quotas of teams, keys and apps that have no settings of their own.
    var quotas = QuotaDefaults()
    /// The rates of strangers and devices.
    var principalLimits = PrincipalLimits()
    /// Whether the history of notifications is recorded.
    var hasTrace = true
    /// The time for which the history is kept, in seconds.
    var traceLifeSeconds = Limits.traceLifeSecondsDefault
    /// The maximum size of the history in bytes.
    var traceByteCountMax = Limits.traceByteCountDefault
    /// The PEM file of authorities that webhooks trust; nil for those of the system.
    var webhookAuthorityFile: String?
    /// The minimum level of logged events.
    var logLevel: EventLog.Level = .info
    /// Whether standard error is the journal.
    var isJournal = false
    /// The settings of `--ephemeral`; nil without it.
    var ephemeral: Ephemeral?
    /// The settings that the command line, the environment or the file contain, as written.
    var texts: [ConfigurationKey: String] = [:]
    /// Reads the same command line, environment and file again; nil if a reload only renews the certificate.
    var read: (@Sendable () throws(ConfigurationError) -> ServerConfiguration)?

    /// The configured memory budget in bytes, otherwise half of the memory that the process may use.
    var memoryBudget: Int { memoryBudgetByteCount ?? MemoryBudget.defaultByteCount() }

    /// The connection limits for the current limit of open files and the memory budget.
    var connectionCaps: ConnectionLimiter.Caps {
        ConnectionLimiter.Caps(
            descriptorCount: ProcessLimits.descriptorCountMax, memoryByteCount: memoryBudget, all: connectionCountMax,
            strangers: unauthenticatedConnectionCountMax, perNetwork: connectionsPerAddressCountMax)
    }

    /// Returns the settings of the store, whose file has a path.
    func storeConfiguration(path: String) -> StoreConfiguration {
        var store = StoreConfiguration(path: path, now: { .now })
        store.pendingPerTopicCountMax = pendingPerTopicCountMax
        store.pendingPerDeviceCountMax =
            pendingPerDeviceCountMax ?? max(Limits.pendingPerDeviceCountMax, pendingPerTopicCountMax)
        store.powerSavingDelayMilliseconds = powerSavingDelaySeconds * 1000
        store.durability = durability
        store.registrationLifeSeconds = tokenLifeSeconds
        store.hasTrace = hasTrace
        store.traceLifeSeconds = traceLifeSeconds
        store.traceByteCountMax = traceByteCountMax
        return store
    }

    /// The limits of connections without a proven credential.
    var strangerLimits: StrangerLimits {
        StrangerLimits(authenticationTimeout: authenticationTimeout, streamCountMax: unauthenticatedStreamCountMax)
    }

    /// The first address to listen on.
    var host: String { listen.first?.host ?? "*" }
    /// The first port.
    var port: UInt16 { listen.first?.port ?? 0 }

    /// The settings of a server for a test run.
    struct Ephemeral: Sendable {
        /// The topics to create, each with a built-in device.
        var topics: [TopicName]
        /// The parent of the server's temporary directory.
        var parentDirectory: String
        /// Whether to create everything that a test of the whole provider API needs.
        var isFull = false
        /// The file that receives all values as shell variables, if any.
        var environmentFile: String?
    }
}

/// An error in options, environment or file, and what to do about it.
package struct ConfigurationError: Error, Sendable {
    /// `FILE:LINE`, or the name of an option or a variable.
    var place: String
    var problem: String
    /// One imperative sentence that solves the problem.
    var remedy: String

    /// The other errors of the same configuration.
    var others: [ConfigurationError] = []

    /// The two lines of text of each error, for the user.
    var description: String { ([text] + others.map(\.text)).joined(separator: "\n") }

    private var text: String { "\(place): \(problem)\n\(remedy)" }
}
