// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// The settings of the server; the name in the file determines the variable and the option.
///
/// docs/reference/configuration.md and deploy/posthornd.ini contain the same list, and a test compares them.
package enum ConfigurationKey: String, CaseIterable, Sendable {
    case dataDirectory = "data_directory"
    case listen
    case developmentListen = "development_listen"
    case channelListen = "channel_listen"
    case developmentChannelListen = "development_channel_listen"
    case names
    case developmentNames = "development_names"
    case certificateFile = "certificate_file"
    case privateKeyFile = "private_key_file"
    case proxyProtocolFrom = "proxy_protocol_from"
    case adminSocket = "admin_socket"
    case metricsListen = "metrics_listen"
    case loops
    case connections
    case connectionsPerAddress = "connections_per_address"
    case connectionsBeforeAuthentication = "connections_before_authentication"
    case secondsBeforeAuthentication = "seconds_before_authentication"
    case memoryBudgetMegabytes = "memory_budget_megabytes"
    case channelsOnProviderPorts = "channels_on_provider_ports"
    case clientAuthorityFiles = "client_ca_files"
    case providerTokenUpdates = "provider_token_updates"
    case streamsBeforeAuthentication = "streams_before_authentication"
    case openEnrolment = "open_enrolment"
    case pendingPerTopic = "pending_per_topic"
    case pendingPerDevice = "pending_per_device"
    case gatherSeconds = "gather_seconds"
    case tokenLifeDays = "token_life_days"
    case durability
    case storeURL = "url"
    case acceptPatience = "accept_patience"
    case node
    case linkAddress = "address"
    case clusterKeyFile = "key_file"
    case shards
    case teamRate = "team_rate"
    case keyRate = "key_rate"
    case topicRate = "topic_rate"
    case deviceRate = "device_rate"
    case teamDaily = "team_daily"
    case keyDaily = "key_daily"
    case topicDaily = "topic_daily"
    case teamBadTokens = "team_bad_tokens"
    case strangerRequests = "stranger_requests"
    case strangerCredentials = "stranger_credentials"
    case strangerEnrolments = "stranger_enrolments"
    case deviceRequests = "device_requests"
    case deviceAcks = "device_acks"
    case deviceStreams = "device_streams"
    case trace
    case traceDays = "trace_days"
    case traceMegabytes = "trace_megabytes"
    case webhookAuthorityFile = "webhook_ca_file"
    case logLevel = "log_level"

    /// The section of the file.
    var section: String {
        switch self {
        case .dataDirectory, .listen, .developmentListen, .channelListen, .developmentChannelListen, .names,
            .developmentNames, .certificateFile, .privateKeyFile, .proxyProtocolFrom, .adminSocket, .metricsListen,
            .loops,
            .connections,
            .connectionsPerAddress, .connectionsBeforeAuthentication, .secondsBeforeAuthentication,
            .memoryBudgetMegabytes, .logLevel:
            "server"
        case .channelsOnProviderPorts, .clientAuthorityFiles, .providerTokenUpdates, .streamsBeforeAuthentication:
            "providers"
        case .openEnrolment, .pendingPerTopic, .pendingPerDevice, .gatherSeconds, .tokenLifeDays: "devices"
        case .durability, .storeURL, .acceptPatience: "store"
        case .node, .linkAddress, .clusterKeyFile, .shards: "cluster"
        case .teamRate, .keyRate, .topicRate, .deviceRate, .teamDaily, .keyDaily, .topicDaily, .teamBadTokens,
            .strangerRequests, .strangerCredentials, .strangerEnrolments, .deviceRequests, .deviceAcks, .deviceStreams:
            "quotas"
        case .trace, .traceDays, .traceMegabytes, .webhookAuthorityFile: "trace"
        }
    }

    /// The name outside the file, where no section explains it.
    private var fullName: String {
        switch self {
        case .storeURL: "store_url"
        case .node: "cluster_node"
        case .linkAddress: "cluster_address"
        case .clusterKeyFile: "cluster_key_file"
        case .shards: "cluster_shards"
        default: rawValue
        }
    }

    /// The environment variable, for example `POSTHORN_DATA_DIRECTORY`.
    var variable: String { "POSTHORN_" + fullName.uppercased() }

    /// The command-line option, for example `data-directory`.
    var flag: String { fullName.split(separator: "_").joined(separator: "-") }

    /// The placeholder for the value in `--help`.
    var placeholder: String {
        switch self {
        case .dataDirectory: "DIR"
        case .listen, .developmentListen, .channelListen, .developmentChannelListen, .metricsListen: "HOST:PORT"
        case .names, .developmentNames: "NAMES"
        case .certificateFile, .privateKeyFile, .webhookAuthorityFile: "FILE"
        case .clientAuthorityFiles: "FILES"
        case .proxyProtocolFrom: "ADDRESSES"
        case .adminSocket: "PATH"
        case .loops, .connections, .connectionsPerAddress, .connectionsBeforeAuthentication,
            .secondsBeforeAuthentication, .memoryBudgetMegabytes, .pendingPerTopic, .pendingPerDevice, .gatherSeconds,
            .providerTokenUpdates,
            .streamsBeforeAuthentication, .tokenLifeDays, .teamDaily, .keyDaily, .topicDaily, .teamBadTokens,
            .traceDays, .traceMegabytes, .acceptPatience:
            "N"
        case .teamRate, .keyRate, .topicRate, .deviceRate, .strangerRequests, .strangerCredentials, .strangerEnrolments,
            .deviceRequests, .deviceAcks, .deviceStreams:
            "N[/BURST]"
        case .openEnrolment, .channelsOnProviderPorts: "yes|no"
        case .durability: "full|normal|relaxed"
        case .storeURL: "URL"
        case .node: "NAME"
        case .linkAddress: "HOST:PORT"
        case .clusterKeyFile: "FILE"
        case .shards: "URLS"
        case .trace: "on|off"
        case .logLevel: "LEVEL"
        }
    }

    /// One sentence for `--help` and the reference.
    var help: String {
        switch self {
        case .dataDirectory:
            "The directory for the database, keys and certificates; created with mode 0700 on first start."
        case .listen:
            "Addresses and ports for providers and devices, separated by spaces; * means all addresses, port 0 a free "
                + "port. The TLS server name that a provider requests selects its environment."
        case .developmentListen:
            "Addresses and ports for the development environment only, regardless of the server name."
        case .channelListen: "Addresses and ports for the management of broadcast channels only."
        case .developmentChannelListen: "Like channel_listen, for the development environment only."
        case .names: "DNS names and IP addresses in the server's own certificate, separated by spaces."
        case .developmentNames:
            "Additional server names that select the development environment; names with the label sandbox or development "
                + "always do."
        case .certificateFile: "The server's certificate chain (PEM)."
        case .privateKeyFile: "The private key of the certificate (PEM)."
        case .proxyProtocolFrom:
            "Addresses or networks of proxies, separated by spaces; each of their connections must begin with a header of the "
                + "PROXY protocol, version 1 or 2, which tells the client's address."
        case .adminSocket: "The UNIX socket of the admin API."
        case .metricsListen:
            "The address and port for monitoring, where /metrics, /healthz and /readyz answer without TLS and without "
                + "authentication."
        case .loops: "The number of threads that serve connections."
        case .connections: "The maximum number of connections; above it, new connections wait or replace idle ones."
        case .connectionsPerAddress:
            "The number of connections from one address (IPv6: one /64 network) above which idle unauthenticated "
                + "connections are closed."
        case .connectionsBeforeAuthentication:
            "The number of unauthenticated connections above which idle ones are closed."
        case .secondsBeforeAuthentication: "The time after which an unauthenticated connection is closed, in seconds."
        case .memoryBudgetMegabytes:
            "The memory for handshakes, requests and responses of all connections, in MiB. A device, a provider, or all "
                + "unauthenticated connections together may hold an eighth each."
        case .channelsOnProviderPorts: "Whether the ports of listen also accept the management of broadcast channels."
        case .clientAuthorityFiles:
            "Additional CA certificates (PEM) whose client certificates are accepted from providers."
        case .providerTokenUpdates:
            "The maximum number of provider token updates per connection in 20 minutes; the first token of a connection "
                + "is not an update."
        case .streamsBeforeAuthentication:
            "The number of concurrent HTTP/2 streams announced to an unauthenticated provider; at least 100 are accepted. "
                + "APNs announces 1."
        case .openEnrolment: "Whether devices can enrol without a code."
        case .pendingPerTopic:
            "The maximum number of pending notifications of one app for a device that has been away for a minute; the "
                + "oldest are dropped first."
        case .pendingPerDevice:
            "The maximum number of pending notifications per device, at least pending_per_topic; above it, the team with most "
                + "pending ones loses its oldest."
        case .gatherSeconds:
            "The maximum delay of notifications with priority 5 or 1 for a device that saves power, in seconds."
        case .durability:
            "The durability of accepted notifications. full: survives power loss; normal: survives a crash of the server; "
                + "relaxed: neither is guaranteed. With PostgreSQL, only full is available."
        case .storeURL:
            "The address of PostgreSQL 15 or newer, postgresql://USER@HOST,HOST/DATABASE?sslmode=verify-full; empty for "
                + "SQLite in the data directory. The password comes from PGPASSWORD or from ~/.pgpass. For the unit, "
                + "write PGPASSWORD into the file that EnvironmentFile= names."
        case .acceptPatience:
            "The time that notifications and broadcasts wait while PostgreSQL does not answer, in seconds from 1 to 60; "
                + "then they are refused with 503."
        case .linkAddress:
            "The address at which the other nodes reach this one: a name or an IP address, and a port of listen; empty for a "
                + "single server."
        case .clusterKeyFile:
            "The file with the key of the cluster, 64 hexadecimal digits; the first node creates it, and it must be copied to "
                + "the others."
        case .shards:
            "The addresses of further databases for devices, like url, separated by spaces; the same on all nodes. Only add "
                + "addresses at the end."
        case .node: "The name of this node, unique among the servers that use the same PostgreSQL."
        case .tokenLifeDays:
            "The number of days without a connection after which the device tokens of a device expire; 0 means never. The "
                + "device gets new tokens when it reconnects."
        case .teamRate:
            "The rate limit of each team in requests per second, optionally followed by a slash and the burst; 0 means no "
                + "limit."
        case .keyRate: "The rate limit of each signing key or client certificate."
        case .topicRate: "The rate limit of each app."
        case .deviceRate: "The rate limit of each device token."
        case .teamDaily: "The maximum number of notifications of each team per UTC day."
        case .keyDaily: "The maximum number of notifications of each signing key or client certificate per UTC day."
        case .topicDaily: "The maximum number of notifications of each app per UTC day."
        case .teamBadTokens:
            "The maximum number of invalid device tokens (unknown, or of another app) of each team per hour."
        case .strangerRequests:
            "The rate of refused unauthenticated requests per network (IPv4 address or IPv6 /64), per second, with an "
                + "optional burst; above it, requests are refused with 429 and connections are closed."
        case .strangerCredentials:
            "The rate of invalid credentials (device secrets, enrolment codes, provider token signatures) per network, per "
                + "second, with an optional burst."
        case .strangerEnrolments:
            "The rate of enrolments without a code per network, per second, with an optional burst."
        case .deviceRequests: "The rate of requests of each device, per second, with an optional burst."
        case .deviceAcks: "The rate of acknowledgements of each device, per second, with an optional burst."
        case .deviceStreams: "The rate at which each device can open streams, per second, with an optional burst."
        case .trace: "Whether to record the history of each notification, for posthorn trace and webhooks."
        case .traceDays: "The number of days for which the history is kept."
        case .traceMegabytes: "The maximum size of the history in MiB; the oldest events are deleted first."
        case .webhookAuthorityFile: "The CA certificates (PEM) that webhooks trust instead of the system's."
        case .logLevel: "The minimum level of logged events: error, warning, info or debug."
        }
    }

    /// The text that describes the default.
    var defaultText: String {
        switch self {
        case .dataDirectory: "/var/lib/posthorn for root, otherwise ~/.local/share/posthorn/server"
        case .listen: "*:2197"
        case .developmentListen, .channelListen, .developmentChannelListen, .developmentNames, .clientAuthorityFiles,
            .metricsListen, .proxyProtocolFrom:
            "none"
        case .names: "the host name, localhost, 127.0.0.1 and ::1"
        case .certificateFile, .privateKeyFile: "issued by the server's own CA on first start"
        case .adminSocket: "admin.sock in $RUNTIME_DIRECTORY, otherwise in the data directory"
        case .loops: "one per core"
        case .connections: "derived from the limit of open files and memory_budget_megabytes"
        case .connectionsPerAddress: "half of connections"
        case .connectionsBeforeAuthentication: "three quarters of connections, and one per 64 KiB of the memory budget"
        case .secondsBeforeAuthentication: "\(Limits.authenticationTimeout.components.seconds)"
        case .memoryBudgetMegabytes:
            "half of the memory available to the process, at least \(Limits.memoryBudgetByteCountMin >> 20)"
        case .channelsOnProviderPorts: "yes"
        case .providerTokenUpdates: "\(Limits.providerTokenUpdateCountMax)"
        case .streamsBeforeAuthentication: "\(Limits.concurrentStreamCountMax)"
        case .openEnrolment: "no"
        case .pendingPerTopic: "\(Limits.pendingPerTopicCountMax)"
        case .pendingPerDevice: "\(Limits.pendingPerDeviceCountMax), and at least pending_per_topic"
        case .gatherSeconds: "60"
        case .durability: "full"
        case .storeURL: "empty"
        case .acceptPatience: "10"
        case .node: "the host name"
        case .linkAddress: "empty"
        case .clusterKeyFile: "cluster.key in the data directory"
        case .shards: "empty"
        case .tokenLifeDays: "\(Limits.tokenLifeSecondsDefault / Self.secondsPerDay)"
        case .teamRate, .keyRate, .topicRate, .teamDaily, .keyDaily, .topicDaily: "no limit"
        case .teamBadTokens: "\(Limits.teamBadTokensDefault)"
        case .strangerRequests: PrincipalLimits().strangerRequests.text
        case .strangerCredentials: PrincipalLimits().strangerCredentials.text
        case .strangerEnrolments: PrincipalLimits().strangerEnrolments.text
        case .deviceRequests: PrincipalLimits().deviceRequests.text
        case .deviceAcks: PrincipalLimits().deviceAcknowledgements.text
        case .deviceStreams: PrincipalLimits().deviceStreams.text
        case .deviceRate: "\(Limits.deviceRateDefault)/\(Limits.deviceBurstDefault)"
        case .trace: "on"
        case .traceDays: "\(Limits.traceLifeSecondsDefault / Self.secondsPerDay)"
        case .traceMegabytes: "\(Limits.traceByteCountDefault >> 20)"
        case .webhookAuthorityFile: "the system's CAs"
        case .logLevel: "info"
        }
    }

    /// The number of seconds in a day, for settings that count days.
    static let secondsPerDay: Int64 = 86_400
}
