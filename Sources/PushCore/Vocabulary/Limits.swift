// SPDX-License-Identifier: Apache-2.0

/// Every bound of the system, by name; docs/reference/limits.md says what happens at each.
public enum Limits {
    // MARK: Provider API (Apple's)

    /// The largest payload, in bytes, of every push type but voip.
    public static let payloadByteCountMax = 4096
    /// The largest payload of push type voip, in bytes.
    public static let voipPayloadByteCountMax = 5120
    /// The largest payload of a broadcast, in bytes.
    public static let broadcastPayloadByteCountMax = 5120
    /// The longest `apns-channel-id` that is looked at, in bytes.
    public static let channelIDByteCountMax = 64
    /// Channels of one app in one environment.
    public static let channelPerAppCountMax = 10_000
    /// How long a channel keeps its last broadcast at most, in seconds: 8 hours.
    public static let broadcastStorageSecondsMax: Int64 = 8 * 3600
    /// Channels that one app on one device may subscribe to.
    public static let subscriptionPerAppCountMax = 1000
    /// The longest `apns-collapse-id`, in bytes.
    public static let collapseIDByteCountMax = 64
    /// The longest topic, in bytes.
    public static let topicByteCountMax = 255
    /// Topics in one extension of a client certificate.
    public static let certificateTopicCountMax = 256
    /// How long a client certificate that is issued here is valid at most, in days.
    public static let certificateDayCountMax = 825
    /// How far `iat` may lie from now, in seconds, before a provider token counts as expired.
    public static let providerTokenAgeSecondsMax: Int64 = 3600
    /// New provider tokens that one connection may bring within `providerTokenUpdateSeconds`.
    public static let providerTokenUpdateCountMax = 5
    /// Over how many seconds new provider tokens are counted: Apple's 20 minutes.
    public static let providerTokenUpdateSeconds: Int64 = 20 * 60
    /// Good provider tokens that a connection remembers, so that each is verified once.
    public static let rememberedProviderTokenCountMax = 8
    /// The longest provider token that is looked at, in bytes.
    public static let providerTokenByteCountMax = 2048
    /// Apps on devices of which a loop remembers the last alerts, for the checks of payloads.
    public static let payloadHistoryCountMax = 8192
    /// A device token in hexadecimal digits.
    public static let deviceTokenDigitCount = 64
    /// How deep JSON may nest.
    public static let jsonDepthMax = 64

    // MARK: HTTP

    /// Streams that a provider may have open on one connection.
    public static let concurrentStreamCountMax = 1000
    /// All request fields of one request: name + value + 32 for each, in bytes.
    public static let headerListByteCountMax = 8000
    /// What SETTINGS_MAX_HEADER_LIST_SIZE tells peers, in bytes; Apple's value.
    public static let advertisedHeaderListByteCountMax: UInt32 = 8000
    /// Request fields of one request.
    public static let headerFieldCountMax = 64
    /// The largest body of a device or admin request, in bytes.
    public static let controlBodyByteCountMax = 64 * 1024
    /// Output waiting for one connection, in bytes, above which its input is not read.
    public static let outputByteCountHigh = 64 * 1024
    /// Output waiting for one connection, in bytes, above which the connection is closed.
    public static let outputByteCountMax = 1024 * 1024

    /// One line, and one event with all its lines, of a device's stream, in bytes.
    public static let streamEventByteCountMax = 64 * 1024

    // MARK: Delivery

    /// Pending notifications of one (device, topic); the oldest is dropped first.
    public static let pendingPerTopicCountMax = 100
    /// Pending notifications of one device, of all its apps; the oldest is dropped for the next one.
    public static let pendingPerDeviceCountMax = 1000
    /// Notifications sent to a device and not yet acknowledged.
    public static let unacknowledgedCountMax = 64
    /// How long a notification is kept at most, in seconds: 30 days.
    public static let retentionSecondsMax: Int64 = 30 * 24 * 3600
    /// Acknowledgements in one request.
    public static let acknowledgementBatchCountMax = 1000
    /// Acknowledgements that a device may send on a WebSocket beside those for what it gets there.
    public static let acknowledgementAllowanceFirst = 50_000
    /// Acknowledgements that a device may send on a WebSocket for each notification that it gets there.
    public static let acknowledgementsPerNotification = 8
    /// Topics in one filter.
    public static let filterTopicCountMax = 1000
    /// Registrations of one device.
    public static let registrationPerDeviceCountMax = 1000
    /// The longest name of a device or an app, in bytes of UTF-8.
    public static let displayNameByteCountMax = 128
    /// How long a device may stay away, in seconds, before its device tokens expire, unless configured: a year.
    public static let tokenLifeSecondsDefault: Int64 = 365 * 24 * 3600
    /// How long the trace is kept unless configured, in seconds: a week.
    public static let traceLifeSecondsDefault: Int64 = 7 * 24 * 3600
    /// How much of the trace is kept unless configured, in bytes: 256 MiB.
    public static let traceByteCountDefault: Int64 = 256 * 1024 * 1024
    /// Searches of the trace at a time.
    public static let traceSearchCountMax = 64
    /// Events in one answer of the trace.
    public static let traceAnswerCountMax = 1000
    /// Apps with a webhook.
    public static let webhookCountMax = 50
    /// The longest URL of a webhook, in bytes.
    public static let webhookURLByteCountMax = 2048
    /// The shortest secret of a webhook, in bytes.
    public static let webhookSecretByteCountMin = 16
    /// The longest secret of a webhook, in bytes.
    public static let webhookSecretByteCountMax = 256
    /// Events in one request of a webhook.
    public static let webhookBatchCountMax = 200
    /// How long an enrolment code is valid, in seconds.
    public static let enrolmentCodeLifeSeconds: Int64 = 24 * 3600
}

extension Limits {
    // MARK: Rates and quotas

    /// Requests a second to one device token, unless configured.
    public static let deviceRateDefault: Int64 = 100
    /// Requests to one device token at once after a pause, unless configured.
    public static let deviceBurstDefault: Int64 = 1000
    /// Device tokens whose rate is remembered: those that were sent to in the last moments.
    public static let deviceRateCountMax = 16_384
    /// The largest rate and burst that can be set.
    public static let quotaRateMax: Int64 = 1_000_000
    /// The largest number of notifications a day, and of bad device tokens an hour, that can be set.
    public static let quotaCountMax: Int64 = 1_000_000_000_000
    /// Rules of policies for devices.
    public static let policyRuleCountMax: Int64 = 10_000
    /// Teams, keys and apps whose limits are kept in mind.
    public static let quotaSubjectCountMax = 65_536
    /// Between two writings of the day's counts.
    public static let quotaNoteInterval = Duration.seconds(5)
}

extension Limits {
    // MARK: The server's loops

    /// Bytes read from a connection at once.
    public static let readBufferByteCount = 16 * 1024
    /// Reads from one connection before others have their turn.
    public static let readsPerTurnCountMax = 8
    /// Steps of TLS handshakes, most of which sign something, before others have their turn.
    public static let handshakeStepsPerTurnCountMax = 8
    /// Connections accepted before others have their turn.
    public static let acceptsPerTurnCountMax = 32
    /// Connections of one loop that came, went or were sent to in a burst before free memory is given back to the system.
    public static let connectionChangesPerTrimCount = 500
    /// Notifications of one loop that wait for the store; more are answered with 503.
    public static let unansweredAcceptCountMax = 20_000
    /// Addresses in one setting.
    public static let listenAddressCountMax = 16
    /// Lists of all channels that one connection may have under way.
    public static let listingPerConnectionCountMax = 2
    /// Lists of all channels that one loop has under way: each takes the store's time, and memory until it is read.
    public static let listingPerLoopCountMax = 8
    /// From the TCP connection to the end of the TLS handshake and the first bytes of HTTP.
    public static let handshakePatience = Duration.seconds(10)
    /// From the beginning of a request to its end.
    public static let requestPatience = Duration.seconds(15)
    /// From the end of a request to its answer: the store may be waiting for the disk.
    public static let answerPatience = Duration.seconds(30)
    /// Without an open stream or a byte.
    public static let idlePatience = Duration.seconds(300)
    /// Output that the peer does not take.
    public static let outputPatience = Duration.seconds(30)
    /// From our close to the peer's.
    public static let lingerPatience = Duration.seconds(2)
    /// Between heartbeats on a device's stream, unless the device asks for a longer interval.
    public static let heartbeatInterval = Duration.seconds(20)
    /// The longest interval between heartbeats that a device can ask for.
    public static let heartbeatIntervalMax = Duration.seconds(240)
    /// How long busy connections are drained before GOAWAY announces the end.
    public static let drainPatience = Duration.seconds(1)
    /// From SIGTERM to the end of the last connection.
    public static let shutdownPatience = Duration.seconds(5)
    /// Notifications that an ephemeral server keeps for its test; the oldest go first.
    public static let ephemeralNotificationCountMax = 100_000

    // MARK: The agent's panel

    /// Alerts that wait for an answer in the panel.
    public static let panelAlertCountMax = 100
    /// From an alert to the panel's question for it: a panel that is to be started has this long.
    public static let panelPatience = Duration.seconds(10)
    /// Starts of the panel in a row after which nobody answered an alert.
    public static let panelStartCountMax = 5
    /// Before the panel is started again; twice as long each time.
    public static let panelPause = Duration.milliseconds(500)
    /// For which a panel that did not work is left alone.
    public static let panelRest = Duration.seconds(60)
    /// Bytes of what a person types into an alert.
    public static let replyByteCountMax = 16 * 1024

    // MARK: Programs that the agent starts

    /// Bytes that one run of a hook, a filter or another program of the agent's writes into its log, as standard error.
    public static let programErrorByteCountMax = 64 * 1024
    /// Alerts that wait for a hook, while others run.
    public static let hookWaitingCountMax = 100
    /// Before a hook that could not be started is tried again.
    public static let hookRestartPause = Duration.seconds(60)
}
