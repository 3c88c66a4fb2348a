// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushNet

/// Every setting: its place in the file; its variable and its flag follow from the name.
///
/// docs/reference/configuration.md and deploy/posthornd.ini list the same, and a test compares.
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
    case adminSocket = "admin_socket"
    case loops
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
    case teamRate = "team_rate"
    case keyRate = "key_rate"
    case topicRate = "topic_rate"
    case deviceRate = "device_rate"
    case teamDaily = "team_daily"
    case keyDaily = "key_daily"
    case topicDaily = "topic_daily"
    case teamBadTokens = "team_bad_tokens"
    case trace
    case traceDays = "trace_days"
    case traceMegabytes = "trace_megabytes"
    case webhookAuthorityFile = "webhook_ca_file"
    case logLevel = "log_level"

    /// The section of the file.
    package var section: String {
        switch self {
        case .dataDirectory, .listen, .developmentListen, .channelListen, .developmentChannelListen, .names,
            .developmentNames, .certificateFile, .privateKeyFile, .adminSocket, .loops, .logLevel:
            "server"
        case .channelsOnProviderPorts, .clientAuthorityFiles, .providerTokenUpdates, .streamsBeforeAuthentication:
            "providers"
        case .openEnrolment, .pendingPerTopic, .pendingPerDevice, .gatherSeconds, .tokenLifeDays: "devices"
        case .durability: "store"
        case .teamRate, .keyRate, .topicRate, .deviceRate, .teamDaily, .keyDaily, .topicDaily, .teamBadTokens: "quotas"
        case .trace, .traceDays, .traceMegabytes, .webhookAuthorityFile: "trace"
        }
    }

    /// For example `POSTHORN_DATA_DIRECTORY`.
    package var variable: String { "POSTHORN_" + rawValue.uppercased() }

    /// For example `data-directory`.
    package var flag: String { rawValue.split(separator: "_").joined(separator: "-") }

    /// What stands for the value in `--help`.
    package var placeholder: String {
        switch self {
        case .dataDirectory: "DIR"
        case .listen, .developmentListen, .channelListen, .developmentChannelListen: "HOST:PORT"
        case .names, .developmentNames: "NAMES"
        case .certificateFile, .privateKeyFile, .webhookAuthorityFile: "FILE"
        case .clientAuthorityFiles: "FILES"
        case .adminSocket: "PATH"
        case .loops, .pendingPerTopic, .pendingPerDevice, .gatherSeconds, .providerTokenUpdates,
            .streamsBeforeAuthentication, .tokenLifeDays, .teamDaily, .keyDaily, .topicDaily, .teamBadTokens,
            .traceDays, .traceMegabytes:
            "N"
        case .teamRate, .keyRate, .topicRate, .deviceRate: "N[/BURST]"
        case .openEnrolment, .channelsOnProviderPorts: "yes|no"
        case .durability: "full|normal|relaxed"
        case .trace: "on|off"
        case .logLevel: "LEVEL"
        }
    }

    /// One sentence for `--help` and the reference.
    package var help: String {
        switch self {
        case .dataDirectory: "Where everything lives that must survive; made with mode 0700 on first start."
        case .listen:
            "Address and port for providers and devices; * is every address, port 0 a free one. Several are separated "
                + "by blanks. The server name that a provider asks for decides its environment."
        case .developmentListen: "The same for the development environment alone, whatever the server name."
        case .channelListen: "Address and port for the management of broadcast channels alone."
        case .developmentChannelListen: "The same for the development environment alone."
        case .names: "DNS names and addresses for the server's own certificate, separated by blanks."
        case .developmentNames:
            "Server names that mean the development environment, beside those with the label sandbox or development."
        case .certificateFile: "PEM certificate chain; without it the server's own authority issues one."
        case .privateKeyFile: "PEM private key of the certificate."
        case .adminSocket: "UNIX socket of the admin API."
        case .loops: "Threads that serve connections; one a core when not given."
        case .channelsOnProviderPorts: "Whether broadcast channels are managed on the ports of listen, too."
        case .clientAuthorityFiles:
            "PEM files of authorities, beside the server's own, whose client certificates providers may use."
        case .providerTokenUpdates: "New provider tokens that one connection may bring in 20 minutes."
        case .streamsBeforeAuthentication:
            "Streams that HTTP/2 SETTINGS allow a provider until it has authenticated; Apple's is 1."
        case .openEnrolment: "Whether devices may enrol without a code."
        case .pendingPerTopic: "Notifications of one app that wait for one device; the oldest are dropped first."
        case .pendingPerDevice:
            "Notifications of all apps that wait for one device, no fewer than of one; the oldest are dropped first."
        case .gatherSeconds:
            "Seconds that notifications of priority 5 and 1 are kept back, at most, from a device that saves power."
        case .durability:
            "What an accepted notification survives: full a power cut, normal the end of the server, relaxed neither for "
                + "certain."
        case .tokenLifeDays:
            "Days that a device may stay away before its device tokens expire; 0 for ever. It gets new ones when it is back."
        case .teamRate:
            "Requests a second of each team, and behind a slash how many may come at once; 0 for no limit, as in all of "
                + "these."
        case .keyRate: "The same for each signing key or client certificate."
        case .topicRate: "The same for each app."
        case .deviceRate: "The same for each device token."
        case .teamDaily: "Notifications of each team in one day of UTC."
        case .keyDaily: "The same for each signing key or client certificate."
        case .topicDaily: "The same for each app."
        case .teamBadTokens:
            "Device tokens that are none of this server, or another app's, to which each team may send in an hour."
        case .trace:
            "Whether it is written down what becomes of each notification, for posthorn trace and webhooks."
        case .traceDays: "Days that the trace is kept."
        case .traceMegabytes: "How much of the trace is kept, in MiB; the oldest goes first."
        case .webhookAuthorityFile: "PEM file of authorities that webhooks trust instead of the system's."
        case .logLevel: "The least important events that are logged: error, warning, info or debug."
        }
    }

    /// What holds without it.
    package var defaultText: String {
        switch self {
        case .dataDirectory: "/var/lib/posthorn for root, else ~/.local/share/posthorn/server"
        case .listen: "*:2197"
        case .developmentListen, .channelListen, .developmentChannelListen, .developmentNames, .clientAuthorityFiles:
            "none"
        case .names: "this host's name, localhost, 127.0.0.1 and ::1"
        case .certificateFile, .privateKeyFile: "made on first start"
        case .adminSocket: "admin.sock in $RUNTIME_DIRECTORY, else in the data directory"
        case .loops: "one a core"
        case .channelsOnProviderPorts: "yes"
        case .providerTokenUpdates: "\(Limits.providerTokenUpdateCountMax)"
        case .streamsBeforeAuthentication: "\(Limits.concurrentStreamCountMax)"
        case .openEnrolment: "no"
        case .pendingPerTopic: "\(Limits.pendingPerTopicCountMax)"
        case .pendingPerDevice: "\(Limits.pendingPerDeviceCountMax), and at least pending_per_topic"
        case .gatherSeconds: "60"
        case .durability: "full"
        case .tokenLifeDays: "\(Limits.tokenLifeSecondsDefault / Self.secondsPerDay)"
        case .teamRate, .keyRate, .topicRate, .teamDaily, .keyDaily, .topicDaily, .teamBadTokens: "no limit"
        case .deviceRate: "\(Limits.deviceRateDefault)/\(Limits.deviceBurstDefault)"
        case .trace: "on"
        case .traceDays: "\(Limits.traceLifeSecondsDefault / Self.secondsPerDay)"
        case .traceMegabytes: "\(Limits.traceByteCountDefault >> 20)"
        case .webhookAuthorityFile: "those of the system"
        case .logLevel: "info"
        }
    }

    /// Seconds of a day, as settings count days.
    static let secondsPerDay: Int64 = 86_400
}
