// SPDX-License-Identifier: Apache-2.0

/// All limits of the system; docs/reference/limits.md describes the behavior at each limit.
public enum Limits {
    // MARK: Provider API (Apple's)

    /// The maximum payload size, in bytes, of every push type except voip.
    public static let payloadByteCountMax = 4096
    /// The maximum payload size of push type voip, in bytes.
    public static let voipPayloadByteCountMax = 5120
    /// The maximum payload size of a broadcast, in bytes.
    public static let broadcastPayloadByteCountMax = 5120
    /// The maximum length of an `apns-channel-id`, in bytes; longer values are rejected unparsed.
    public static let channelIDByteCountMax = 64
    /// The maximum number of channels of one app in one environment.
    public static let channelPerAppCountMax = 10_000
    /// The maximum time for which a channel stores its last broadcast, in seconds: 8 hours.
    public static let broadcastStorageSecondsMax: Int64 = 8 * 3600
    /// The maximum number of channels that one app on one device may subscribe to.
    public static let subscriptionPerAppCountMax = 1000
    /// The maximum length of an `apns-collapse-id`, in bytes.
    public static let collapseIDByteCountMax = 64
    /// The maximum length of a topic, in bytes.
    public static let topicByteCountMax = 255
    /// The maximum number of topics in one extension of a client certificate.
    public static let certificateTopicCountMax = 256
    /// The maximum validity of a client certificate that this server issues, in days.
    public static let certificateDayCountMax = 825
    /// The maximum difference between `iat` and the current time, in seconds, before a provider token counts as
    /// expired.
    public static let providerTokenAgeSecondsMax: Int64 = 3600
    /// The maximum number of provider token updates on one connection within `providerTokenUpdateSeconds`; the first
    /// token is not an update.
    public static let providerTokenUpdateCountMax = 5
    /// The period over which provider token updates are counted, in seconds: Apple's 20 minutes.
    public static let providerTokenUpdateSeconds: Int64 = 20 * 60
    /// The number of valid provider tokens that a connection caches, so that it verifies each only once.
    public static let rememberedProviderTokenCountMax = 8
    /// The maximum length of a provider token, in bytes; longer tokens are rejected unparsed.
    public static let providerTokenByteCountMax = 2048
    /// The number of payloads of an app that a loop checks in each hour if the app's `checks` are `warn`.
    public static let lintedPayloadsPerHourCount = 20
    /// The number of apps whose checked payloads a loop counts.
    public static let lintSampleCountMax = 8192
    /// The number of (app, device) pairs whose last alerts a loop keeps in memory for the payload checks.
    public static let payloadHistoryCountMax = 8192
    /// The length of a device token, in hexadecimal digits.
    public static let deviceTokenDigitCount = 64
    /// The maximum nesting depth of JSON.
    public static let jsonDepthMax = 64

    // MARK: HTTP

    /// The maximum number of streams that a provider may have open on one connection.
    public static let concurrentStreamCountMax = 1000
    /// The maximum size of all request fields of one request, in bytes: name + value + 32 for each field.
    public static let headerListByteCountMax = 8000
    /// The value of SETTINGS_MAX_HEADER_LIST_SIZE sent to peers, in bytes; the same as Apple's.
    public static let advertisedHeaderListByteCountMax: UInt32 = 8000
    /// The maximum number of request fields in one request.
    public static let headerFieldCountMax = 64
    /// The maximum body size of a device or admin request, in bytes.
    public static let controlBodyByteCountMax = 64 * 1024
    /// The maximum body size of a device's request other than acknowledgements and filters, in bytes.
    public static let smallBodyByteCountMax = 4096
    /// The maximum number of body bytes that are buffered before the device of the request is known.
    public static let strangerBodyByteCountMax = 8192
    /// The number of device secrets whose device is cached in memory.
    public static let deviceSecretCacheCountMax = 16_384
    /// The number of unknown device secrets that are cached in memory.
    public static let unknownSecretCacheCountMax = 2048
    /// The size of a connection's output buffer, in bytes, above which the server stops reading its input.
    public static let outputByteCountHigh = 64 * 1024
    /// The number of unsent bytes of a device's stream above which the server closes the connection.
    public static let outputByteCountMax = 1024 * 1024

    /// The maximum size of the requests and responses that an unauthenticated connection holds, in bytes.
    public static let retainedByteCountOfStrangerMax = 256 * 1024
    /// The maximum size of the requests and responses that an authenticated connection holds, in bytes.
    public static let retainedByteCountMax = 4 * 1024 * 1024
    /// The number of open streams on an unauthenticated connection that triggers early authentication.
    ///
    /// At this number, the server verifies a provider token before the request body has arrived.
    public static let streamCountBeforeEarlyAuthentication = 50

    /// The maximum length of a line, and of an event with all its lines, in a device's stream, in bytes.
    public static let streamEventByteCountMax = 64 * 1024

    // MARK: Delivery

    /// The maximum number of pending notifications of one (device, topic) while the device is away.
    ///
    /// At the limit, the oldest one is dropped. For a connected device, only the limit of the device applies.
    public static let pendingPerTopicCountMax = 100
    /// The time without a stream after which a device is away.
    ///
    /// A device that reconnects within this time loses none of a burst to `pendingPerTopicCountMax`.
    public static let awayAfter = Duration.seconds(60)
    /// The maximum number of pending notifications of one device over all its apps, without those in transit to it.
    public static let pendingPerDeviceCountMax = 1000
    /// The maximum number of notifications that are sent to a device but not yet acknowledged.
    public static let unacknowledgedCountMax = 64
    /// The maximum time for which a notification is stored, in seconds: 30 days.
    public static let retentionSecondsMax: Int64 = 30 * 24 * 3600
    /// The maximum number of acknowledgements in one request.
    public static let acknowledgementBatchCountMax = 1000
    /// The number of additional acknowledgements that each notification sent over a WebSocket permits, beyond the rate.
    public static let acknowledgementsPerNotification = 8
    /// The number of most recent notifications to one device for which the server accepts outcomes.
    public static let deliveryHistoryCountMax = 512
    /// The minimum length of an enrolment's `request_id`, in bytes.
    public static let requestIDByteCountMin = 22
    /// The maximum length of an enrolment's `request_id`, in bytes.
    public static let requestIDByteCountMax = 128
    /// The maximum number of topics in one filter.
    public static let filterTopicCountMax = 1000
    /// The maximum number of devices in one response of the admin API.
    public static let listedDeviceCountMax = 1000
    /// The maximum number of requests of one device that wait while the store is busy.
    public static let waitingRequestPerDeviceCountMax = 16
    /// The maximum number of registrations of one device.
    public static let registrationPerDeviceCountMax = 1000
    /// The maximum length of a device's or app's name, in bytes of UTF-8.
    public static let displayNameByteCountMax = 128
    /// The default time without a connection after which the device tokens of a device expire, in seconds: a year.
    public static let tokenLifeSecondsDefault: Int64 = 365 * 24 * 3600
    /// The default time for which the trace is kept, in seconds: a week.
    public static let traceLifeSecondsDefault: Int64 = 7 * 24 * 3600
    /// The default size of the trace, in bytes: 256 MiB.
    public static let traceByteCountDefault: Int64 = 256 * 1024 * 1024
    /// The maximum number of concurrent searches of the trace.
    public static let traceSearchCountMax = 64
    /// The maximum number of events in one response of the trace.
    public static let traceAnswerCountMax = 1000
    /// The maximum number of apps with a webhook.
    public static let webhookCountMax = 50
    /// The maximum length of a webhook's URL, in bytes.
    public static let webhookURLByteCountMax = 2048
    /// The minimum length of a webhook's secret, in bytes.
    public static let webhookSecretByteCountMin = 16
    /// The maximum length of a webhook's secret, in bytes.
    public static let webhookSecretByteCountMax = 256
    /// The maximum number of events in one webhook request.
    public static let webhookBatchCountMax = 200
    /// The lifetime of an enrolment code, in seconds.
    public static let enrolmentCodeLifeSeconds: Int64 = 24 * 3600
    /// The maximum number of authorities that the server announces to devices.
    public static let announcedAuthorityCountMax = 8
    /// The maximum size of the certificate of an announced authority, in bytes of PEM.
    public static let authorityByteCountMax = 6 * 1024
    /// The number of days for which devices trust the previous authority after a rotation.
    public static let previousAuthorityDayCount = 30
    /// The maximum number of unused enrolment codes in a list.
    public static let listedEnrolmentCodeCountMax = 1000
}

extension Limits {
    // MARK: Rates and quotas

    /// The default rate of requests to one device token, per second.
    public static let deviceRateDefault: Int64 = 100
    /// The default burst of requests to one device token after a pause.
    public static let deviceBurstDefault: Int64 = 1000
    /// The number of device tokens, or devices, whose rates are kept in memory.
    public static let deviceRateCountMax = 16_384
    /// The default number of bad device tokens per hour that a team may send to.
    ///
    /// A bad device token is not a token of this server, or belongs to another app.
    public static let teamBadTokensDefault: Int64 = 100_000
    /// The default rate of refused provider API requests per second from the unauthenticated peers of one network.
    public static let strangerRequestRateDefault: Int64 = 1000
    /// The default burst of refused provider API requests from the unauthenticated peers of one network.
    public static let strangerRequestBurstDefault: Int64 = 10_000
    /// The default rate of wrong credentials per second from one network.
    public static let strangerCredentialRateDefault: Int64 = 20
    /// The default burst of wrong credentials from one network.
    public static let strangerCredentialBurstDefault: Int64 = 2000
    /// The default rate of enrolments without a code per second from one network.
    public static let strangerEnrolmentRateDefault: Int64 = 10
    /// The default burst of enrolments without a code from one network.
    public static let strangerEnrolmentBurstDefault: Int64 = 1000
    /// The number of networks of unauthenticated peers whose rates are kept in memory.
    public static let strangerRateCountMax = 4096
    /// The maximum number of wrong credentials on one connection.
    public static let wrongCredentialPerConnectionCountMax = 20
    /// The default rate of a device's requests per second.
    public static let deviceRequestRateDefault: Int64 = 100
    /// The default burst of a device's requests.
    public static let deviceRequestBurstDefault: Int64 = 5000
    /// The default rate of a device's acknowledgements per second.
    public static let acknowledgementRateDefault: Int64 = 1000
    /// The default burst of a device's acknowledgements.
    public static let acknowledgementBurstDefault: Int64 = 50_000
    /// The default rate at which a device may open streams, per second.
    public static let deviceStreamRateDefault: Int64 = 1
    /// The default burst of streams that a device may open.
    public static let deviceStreamBurstDefault: Int64 = 100
    /// The maximum configurable rate and burst.
    public static let quotaRateMax: Int64 = 1_000_000
    /// The maximum configurable number of notifications per day, and of bad device tokens per hour.
    public static let quotaCountMax: Int64 = 1_000_000_000_000
    /// The maximum number of policy rules for devices.
    public static let policyRuleCountMax: Int64 = 10_000
    /// The maximum number of teams, keys and apps whose limits are kept in memory.
    public static let quotaSubjectCountMax = 65_536
    /// The interval between two writes of the daily counts.
    public static let quotaNoteInterval = Duration.seconds(5)
}

extension Limits {
    // MARK: Connections and memory

    /// The minimum number of descriptors that connections leave free for the store, the admin socket and files.
    public static let reservedDescriptorCount = 64
    /// The maximum number of descriptors for which the kernel reserves space when the server starts.
    public static let preparedDescriptorCountMax = 65_536
    /// The number of connections that the server accepts even if the descriptor limit is lower.
    public static let connectionCountMin = 8
    /// The size, in bytes, by which the memory budget is divided for the default of `connections`.
    public static let connectionByteCount = 16 * 1024
    /// The size, in bytes, by which the memory budget is divided for the default of
    /// `connections_before_authentication`.
    public static let strangerByteCount = 64 * 1024
    /// The idle time after which an unauthenticated connection may be closed before the server reaches its connection
    /// limit.
    public static let strangerGrace = Duration.seconds(5)
    /// The default time from the first handshake step to the first valid credential.
    public static let authenticationTimeout = Duration.seconds(60)
    /// The time in which a proxy's header of the PROXY protocol must arrive.
    public static let proxyHeaderTimeout = Duration.seconds(5)
    /// The maximum number of connections of one loop that wait for the header of the PROXY protocol.
    public static let proxyGreetingCountMax = 1024
    /// The maximum number of connections that are examined in the search for one to close.
    public static let strangersPerSearchCountMax = 1024
    /// The number of devices in the list of the longest queues.
    public static let listedQueueCountMax = 20
    /// The maximum number of send tokens of all apps.
    public static let sendTokenCountMax = 1000
    /// The number of slots for the rates of send tokens.
    public static let sendTokenSlotCount = 2048
    /// The maximum number of devices that one request with a send token reaches.
    public static let sendRecipientCountMax = 10_000
    /// The number of a request's notifications that a loop has at the store at the same time.
    public static let sendUnansweredCountMax = 256
    /// The maximum number of devices that one request with a send token names.
    public static let sendNamedDeviceCountMax = 100
    /// The maximum number of bytes of a request with a send token.
    public static let sendBodyByteCountMax = 64 * 1024

    /// The maximum number of parameters in the query, or in the form, of a request with a send token.
    public static let sendParameterCountMax = 64
    /// The maximum size of the label of a button that a notification brings with it, in bytes.
    public static let buttonTitleByteCountMax = 100
    /// The maximum number of header fields of a button's request.
    public static let buttonFieldCountMax = 16
    /// The timeout of a button's request.
    public static let buttonRequestTimeout = Duration.seconds(10)
    /// The number of bytes of the response to a button's request that the agent reads.
    public static let buttonResponseByteCountMax = 64 * 1024
    /// The maximum number of buttons that a notification brings with it.
    public static let messageButtonCountMax = 3
    /// The number of notifications that the response to a request with a send token lists.
    public static let sendListedCountMax = 100
    /// The rate of requests of each send token, per second.
    public static let sendTokenRate: Int64 = 10
    /// The burst of requests of each send token.
    public static let sendTokenBurst: Int64 = 60
    /// The divisor that gives the share of a loop's connections that one principal keeps at the connection limit.
    public static let connectionShares = 4
    /// The number of connections that a principal keeps, however small its share is.
    public static let connectionsPerPrincipalCountMin = 16
    /// The minimum time between two searches for the principal with most of a loop's connections.
    public static let principalSearchInterval = Duration.seconds(1)
    /// The maximum number of TLS handshakes in flight on one loop; a small memory budget allows fewer.
    public static let handshakeCountMax = 256
    /// The maximum number of TLS handshakes in flight of one address (IPv6: /64) on one loop.
    public static let handshakesPerNetworkCountMax = 32
    /// The maximum time for which a handshake counts as in flight.
    public static let handshakeSlotDuration = Duration.milliseconds(250)
    /// The rate of TLS handshakes per second of one address (IPv6: /64) above which other addresses have priority.
    public static let handshakeRate: Int64 = 200
    /// The burst of TLS handshakes of one address (IPv6: /64) above which other addresses have priority.
    public static let handshakeBurst: Int64 = 2000
    /// The divisor of the memory budget that gives the share of all unauthenticated peers, or of one principal.
    public static let memorySharesCount = 8
    /// The number of shares of the memory budget that all devices and providers together may hold.
    ///
    /// If they hold more, the server pauses those that hold more than an equal part.
    public static let memorySharesOfPrincipalsCount = 3
    /// The size, in bytes, that the memory budget counts for a TLS handshake.
    public static let handshakeByteCount = 48 * 1024
    /// The maximum size of a TLS ClientHello in bytes, including all headers.
    public static let clientHelloByteCountMax = 16 * 1024
    /// The size, in bytes, that the memory budget counts for an incomplete TLS record of an unauthenticated peer;
    /// OpenSSL allocates a buffer of about this size.
    public static let recordBufferByteCount = 17 * 1024
    /// The minimum default memory budget, in bytes.
    public static let memoryBudgetByteCountMin = 128 * 1024 * 1024
    /// The memory budget when neither the cgroup limit nor the machine's memory is known, in bytes.
    public static let memoryBudgetByteCountDefault = 512 * 1024 * 1024
    /// The step in which connections report the memory that they hold, in bytes; a power of two.
    public static let memoryReportByteCount = 8 * 1024
    /// The growth of free memory that is still resident, in bytes, after which the server returns it to the system.
    public static let residentGrowthByteCount = 8 * 1024 * 1024
    /// The interval between two checks of the resident memory.
    public static let residentCheckInterval = Duration.seconds(20)
}

extension Limits {
    // MARK: The server's loops

    /// The number of bytes of one read from a connection.
    public static let readBufferByteCount = 16 * 1024
    /// The maximum number of reads from one connection before other connections have their turn.
    public static let readsPerTurnCountMax = 8
    /// The maximum time of TLS handshake steps in one turn of a loop; a step that has begun is completed.
    public static let handshakeDurationPerTurn = Duration.milliseconds(4)
    /// The divisor that gives the time for handshakes from the time of the rest of the turn, while requests arrive.
    public static let handshakeShare = 4
    /// The time after a request of an authenticated peer during which handshakes get only their share.
    public static let handshakeYieldDuration = Duration.seconds(1)
    /// The maximum number of accepted connections before other work has its turn.
    public static let acceptsPerTurnCountMax = 32
    /// The number of connection changes on one loop that count as a burst.
    ///
    /// Opening, closing and sending to a connection are changes. After a burst, the loop returns free memory to the
    /// system.
    public static let connectionChangesPerTrimCount = 500
    /// The maximum number of notifications of one loop that wait for the store; more are answered with 503.
    ///
    /// With several databases, this is the number for each of them.
    public static let unansweredAcceptCountMax = 20_000

    /// The maximum number of notifications of one loop, sent with send tokens, that wait for the store.
    public static let unansweredSendCountMax = 10_000
    /// The maximum number of addresses in one configuration setting.
    public static let listenAddressCountMax = 16
    /// The maximum number of databases among which a cluster distributes its devices.
    public static let shardCountMax = 64
    /// The maximum number of concurrent channel-list requests on one connection.
    public static let listingPerConnectionCountMax = 2
    /// The maximum number of channel-list requests of one loop that wait for the store.
    public static let listingPerLoopCountMax = 8
    /// The maximum number of channel-list requests of one loop for one team that wait for the store.
    public static let listingPerTeamCountMax = 2
    /// The maximum number of unread channel lists of one team on one loop; each occupies memory until it is read.
    public static let listingUnreadPerTeamCountMax = 8
    /// The timeout for a ClientHello, and then from the first handshake step to the first complete HTTP/2 frame or
    /// HTTP/1.1 request.
    public static let handshakeTimeout = Duration.seconds(10)
    /// The timeout from the start of a request to its end.
    public static let requestTimeout = Duration.seconds(15)
    /// The timeout from the end of a request to its response; it allows for a store that waits for the disk.
    public static let responseTimeout = Duration.seconds(30)
    /// The timeout of a connection without an open stream and without incoming bytes.
    public static let idleTimeout = Duration.seconds(300)
    /// The timeout for output that the peer does not read.
    public static let outputTimeout = Duration.seconds(30)
    /// The timeout from the server's close to the peer's close.
    public static let lingerTimeout = Duration.seconds(2)
    /// The default interval between heartbeats on a device's stream; a device can request a longer one.
    public static let heartbeatInterval = Duration.seconds(20)
    /// The longest interval between heartbeats that a device can request.
    public static let heartbeatIntervalMax = Duration.seconds(240)
    /// The maximum number of connections to the port for monitoring; above it, the oldest ones are closed.
    public static let metricsConnectionCountMax = 16
    /// The time that a connection to the port for monitoring may stay open.
    public static let metricsConnectionTimeout = Duration.seconds(120)
    /// The number of requests a second to the port for monitoring, not counting `/healthz`.
    public static let metricsRequestRate: Int64 = 10
    /// The maximum burst of requests to the port for monitoring, not counting `/healthz`.
    public static let metricsRequestBurst: Int64 = 50
    /// The interval at which `posthorn_devices_cut_off` is updated.
    public static let metricsTrustInterval = Duration.seconds(60)
    /// The time for which `/metrics` waits for the store.
    public static let metricsStoreTimeout = Duration.seconds(2)
    /// The share of free disk space in percent below which `posthorn doctor` warns.
    public static let doctorFreePercentMin = 10
    /// The time after which a store that does not end its turn counts as not ready.
    public static let storeTurnDurationMax = Duration.seconds(10)
    /// The time that a shutdown gives busy connections before GOAWAY, and new connections for their first request.
    public static let drainTimeout = Duration.seconds(1)
    /// The time limit for the check of the new program after SIGUSR2.
    public static let replacementCheckTimeout = Duration.seconds(10)
    /// The maximum time from SIGTERM to the end of the last connection.
    public static let shutdownTimeout = Duration.seconds(5)
    /// The maximum number of notifications that an ephemeral server keeps for its test; the oldest are discarded first.
    public static let ephemeralNotificationCountMax = 100_000
}

extension Limits {
    // MARK: The command line

    /// The timeout of `posthorn` for a request for the server's status.
    public static let statusAnswerTimeout = Duration.seconds(5)
    /// The maximum size of a file that `posthorn` reads, in bytes.
    public static let commandFileByteCountMax = 1024 * 1024
    /// The maximum number of devices that `posthorn top` lists, so that its output fits 24 lines.
    public static let topDeviceCountMax = 8
}
