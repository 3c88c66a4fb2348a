// SPDX-License-Identifier: Apache-2.0

internal import Testing

/// Generates docs/reference/limits.md from the texts of Limits.swift and Limits+Agent.swift, and the consequences below.
enum LimitsPage {
    /// One constant of `Limits`.
    struct Constant {
        let topic: String
        let name: String
        let value: String
        let documentation: String
    }

    /// Reports a line of Limits.swift that the parser does not understand.
    struct Unreadable: Error {
        let line: String
    }

    /// Maps each constant to the consequence of reaching the limit.
    ///
    /// A constant without an entry fails the test.
    static let consequences = [
        "payloadByteCountMax": "413 `PayloadTooLarge`",
        "voipPayloadByteCountMax": "413 `PayloadTooLarge`",
        "broadcastPayloadByteCountMax": "413 `PayloadTooLarge`",
        "channelIDByteCountMax": "400 `BadChannelId`",
        "channelPerAppCountMax": "400 `CannotCreateChannelConfig`",
        "broadcastStorageSecondsMax": "the stored broadcast expires",
        "subscriptionPerAppCountMax": "status 429 for the subscription",
        "providerTokenUpdateCountMax": "429 `TooManyProviderTokenUpdates`; `provider_token_updates` changes it",
        "providerTokenUpdateSeconds": "older updates no longer count",
        "rememberedProviderTokenCountMax":
            "the least recently used token is evicted, and counts as new when it is used again",
        "lintedPayloadsPerHourCount":
            "further payloads of the hour are not checked, except those with `posthorn-lint: 1`",
        "lintSampleCountMax": "the oldest counts are evicted; more payloads of these apps are checked",
        "payloadHistoryCountMax": "the oldest alerts are evicted; repeats of them cause no warning",
        "deviceTokenDigitCount": "400 `BadDeviceToken`",
        "listenAddressCountMax": "the server does not start; the error message names the setting",
        "shardCountMax": "the server does not start; the error message names the setting",
        "tokenLifeSecondsDefault": "410 `ExpiredToken`; `token_life_days` changes it",
        "collapseIDByteCountMax": "400 `BadCollapseId`",
        "topicByteCountMax": "400 `BadTopic`; an app with a longer topic cannot be added",
        "certificateTopicCountMax": "403 `BadCertificate`",
        "certificateDayCountMax": "400 `BadRequest` from the admin API",
        "providerTokenAgeSecondsMax": "403 `ExpiredProviderToken`",
        "providerTokenByteCountMax": "403 `InvalidProviderToken`; the signature is not verified",
        "jsonDepthMax": "400 `PayloadEmpty`, because devices would not read such a payload",
        "reservedDescriptorCount":
            "idle unauthenticated connections are closed for new ones; if none is idle, new ones wait",
        "preparedDescriptorCountMax":
            "the kernel enlarges its table of descriptors later, and the accepting loop waits for it",
        "connectionCountMin": "the same as at `reservedDescriptorCount`; `connections` changes the limit",
        "connectionByteCount": "nothing; it limits the number of connections on a machine with little memory",
        "strangerByteCount": "nothing; it limits the number of unauthenticated connections",
        "strangerGrace":
            "the connection is closed above `connections_per_address` or `connections_before_authentication`",
        "authenticationTimeout":
            "GOAWAY with `IdleTimeout`, then the connection is closed; `seconds_before_authentication` changes it",
        "statusAnswerTimeout": "the command fails and says that the server does not answer",
        "commandFileByteCountMax": "the command fails and names the file",
        "topDeviceCountMax": "devices with shorter queues are not listed",
        "metricsConnectionCountMax": "the oldest connection to the port for monitoring is closed",
        "metricsConnectionTimeout": "the connection is closed; a scraper opens another one",
        "metricsRequestRate": "429 from the port for monitoring",
        "metricsRequestBurst": "429 from the port for monitoring",
        "metricsTrustInterval": "the server determines `posthorn_devices_cut_off` again",
        "metricsStoreTimeout": "`/metrics` contains the previous value of `posthorn_devices_cut_off`",
        "doctorFreePercentMin": "a warning of `posthorn doctor`",
        "storeTurnDurationMax": "503 from `/readyz`",
        "proxyHeaderTimeout": "the connection is closed",
        "proxyGreetingCountMax": "further connections of proxies are closed",
        "strangersPerSearchCountMax":
            "the search closes no connection; at the limit `connections`, the new connection waits unless a principal's "
            + "connection can be closed",
        "listedQueueCountMax": "further devices are not listed",
        "sendTokenCountMax": "429 `TooMany` from the admin API",
        "sendTokenSlotCount": "two tokens may share a rate",
        "sendRecipientCountMax": "413 `TooManyDevices`, and nothing is sent; use a channel",
        "sendUnansweredCountMax": "nothing; the request takes longer",
        "sendNamedDeviceCountMax": "400 `BadRequest`",
        "sendBodyByteCountMax": "413 `TooLarge`",
        "sendParameterCountMax": "400 `BadRequest`",
        "buttonTitleByteCountMax": "the agent leaves the button out",
        "buttonFieldCountMax": "the agent leaves the button out",
        "buttonRequestTimeout": "the inbox entry shows the error",
        "buttonResponseByteCountMax": "the inbox entry shows the error",
        "messageButtonCountMax": "400 `BadRequest`; from ntfy's API, further buttons are left out",
        "sendListedCountMax": "further notifications are sent but not listed; `posthorn trace` with the ID lists them",
        "sendTokenRate": "429 `TooMany` with `retry-after`",
        "sendTokenBurst": "the same as at `sendTokenRate`",
        "connectionShares":
            "the principal's youngest connections are closed if it has more than all unauthenticated peers",
        "connectionsPerPrincipalCountMin": "none of the principal's connections is closed for others",
        "principalSearchInterval": "new connections wait for the next search",
        "handshakeCountMax": "further handshakes wait until one of these ends",
        "handshakesPerNetworkCountMax": "further handshakes from that address wait until one of these ends",
        "handshakeSlotDuration": "another handshake may start; this one continues until `handshakeTimeout`",
        "handshakeRate": "further handshakes from that address wait until no other address has one",
        "handshakeBurst": "the same as at `handshakeRate`",
        "memorySharesCount":
            "streams are reset with REFUSED_STREAM, and nothing is read until less memory is held; if unauthenticated "
            + "connections exceed their share, the oldest of those that hold most are closed",
        "memorySharesOfPrincipalsCount":
            "the same as at `memorySharesCount`, for devices and providers that hold more than an equal part",
        "handshakeByteCount":
            "nothing; a handshake that has begun counts like the memory of any unauthenticated connection",
        "clientHelloByteCountMax": "the connection is closed",
        "recordBufferByteCount": "nothing",
        "memoryBudgetByteCountMin": "nothing; `memory_budget_megabytes` may be smaller",
        "memoryBudgetByteCountDefault":
            "nothing; `memorySharesCount` and `memorySharesOfPrincipalsCount` give the limits",
        "memoryReportByteCount": "nothing; a connection that holds less counts as one that holds nothing",
        "residentGrowthByteCount": "nothing that is visible to peers",
        "residentCheckInterval": "nothing that is visible to peers",
        "concurrentStreamCountMax": "the stream is reset with REFUSED_STREAM; providers retry such requests",
        "headerListByteCountMax": "status 431 for this request",
        "advertisedHeaderListByteCountMax": "nothing; the value is only announced to peers",
        "headerFieldCountMax": "status 431 for this request",
        "controlBodyByteCountMax": "status 413; on a WebSocket, close code 1009",
        "outputByteCountHigh":
            "the server reads nothing more from this connection until the peer has read the pending output",
        "outputByteCountMax": "the connection is closed",
        "retainedByteCountOfStrangerMax":
            "new streams, and a request whose body does not fit, are reset with REFUSED_STREAM; HTTP/1.1: status 413",
        "retainedByteCountMax":
            "new streams are reset with REFUSED_STREAM; with twice as many bytes in pending responses, GOAWAY with "
            + "ENHANCE_YOUR_CALM",
        "streamCountBeforeEarlyAuthentication":
            "nothing, unless the verification fails; then further streams are refused at 100 open streams",
        "streamEventByteCountMax": "the device closes the connection and reconnects",
        "pendingPerTopicCountMax":
            "the oldest pending notification is dropped and counted as `dropped`; `pending_per_topic` changes it",
        "awayAfter": "`pendingPerTopicCountMax` applies to the device",
        "pendingPerDeviceCountMax":
            "the oldest notification of the team with most pending ones is dropped and counted as `dropped`; `pending_per_device` changes it",
        "deliveryHistoryCountMax":
            "outcomes of older ones are ignored and counted in `glitches`; the team with the most is evicted first",
        "unacknowledgedCountMax": "the next one is sent after an acknowledgement",
        "retentionSecondsMax": "the notification expires and is counted as `expired`",
        "acknowledgementBatchCountMax": "status 429; on a WebSocket, close code 1009; the agent sends several batches",
        "acknowledgementsPerNotification":
            "the WebSocket is closed with code 1008, once these and the rate are used up",
        "requestIDByteCountMin": "400 `BadRequest`",
        "requestIDByteCountMax": "400 `BadRequest`",
        "filterTopicCountMax": "status 429",
        "listedDeviceCountMax": "the answer contains `next`, after which the next request continues",
        "waitingRequestPerDeviceCountMax": "429 `Busy`; the agent retries later",
        "registrationPerDeviceCountMax": "status 429 for the registration",
        "displayNameByteCountMax": "status 400",
        "teamBadTokensDefault": "429 `TooManyRequests` for bad device tokens; `team_bad_tokens` changes it",
        "strangerRequestRateDefault": "429, and the connection is closed; `stranger_requests` changes it",
        "strangerRequestBurstDefault": "429, and the connection is closed; `stranger_requests` changes it",
        "strangerCredentialRateDefault":
            "429, and the connection is closed after one wrong credential; `stranger_credentials` changes it",
        "strangerCredentialBurstDefault":
            "429, and the connection is closed after one wrong credential; `stranger_credentials` changes it",
        "strangerEnrolmentRateDefault": "status 429 for the enrolment; `stranger_enrolments` changes it",
        "strangerEnrolmentBurstDefault": "status 429 for the enrolment; `stranger_enrolments` changes it",
        "strangerRateCountMax":
            "the network that used the least of its burst is evicted, and gets its full burst again",
        "wrongCredentialPerConnectionCountMax": "the answer is sent, then GOAWAY, and the connection is closed",
        "deviceRequestRateDefault": "status 429; `device_requests` changes it",
        "deviceRequestBurstDefault": "status 429; `device_requests` changes it",
        "acknowledgementRateDefault": "status 429; on a WebSocket, close code 1008; `device_acks` changes it",
        "acknowledgementBurstDefault": "status 429; on a WebSocket, close code 1008; `device_acks` changes it",
        "deviceStreamRateDefault": "status 429; `device_streams` changes it",
        "deviceStreamBurstDefault": "status 429; `device_streams` changes it",
        "deviceRateDefault": "429 `TooManyRequests`; `device_rate` changes it",
        "deviceBurstDefault": "429 `TooManyRequests`; `device_rate` changes it",
        "deviceRateCountMax":
            "the device token that used the least of its burst is evicted, and gets its full burst again",
        "quotaRateMax": "the server does not start, or the admin API answers with status 400",
        "quotaCountMax": "the server does not start, or the admin API answers with status 400",
        "policyRuleCountMax": "429 `TooMany` from the admin API",
        "quotaSubjectCountMax":
            "those without recent usage are evicted; if all have recent usage, a new one has no limits",
        "quotaNoteInterval": "the daily counts are saved; a crash loses the counts since the last save",
        "readBufferByteCount": "the rest is read in the next turn",
        "readsPerTurnCountMax": "the rest is read in the next turn",
        "handshakeDurationPerTurn": "the rest continue in the next turn",
        "handshakeShare": "the rest continue in the next turn",
        "handshakeYieldDuration": "handshakes may again take `handshakeDurationPerTurn`",
        "acceptsPerTurnCountMax": "the rest are accepted in the next turn",
        "connectionChangesPerTrimCount": "after the burst, the loop returns its free memory to the system",
        "unansweredAcceptCountMax": "503 `ServiceUnavailable`",
        "unansweredSendCountMax": "503 `ServiceUnavailable`; a request that was begun takes longer",
        "listingPerConnectionCountMax": "429 `TooManyRequests`",
        "listingPerLoopCountMax": "429 `TooManyRequests`",
        "listingPerTeamCountMax": "429 `TooManyRequests` for this team; other teams get their lists",
        "listingUnreadPerTeamCountMax": "429 `TooManyRequests` for this team; other teams get their lists",
        "smallBodyByteCountMax": "status 413",
        "strangerBodyByteCountMax":
            "401 if no device has the secret, otherwise 503 with `retry-after`; the device repeats the request",
        "deviceSecretCacheCountMax": "the store is queried for a device that has sent nothing for a long time",
        "unknownSecretCacheCountMax": "the store is queried again for an unknown secret",
        "handshakeTimeout": "the connection is closed",
        "requestTimeout": "400 `IdleTimeout` for the request; the connection is closed if it has no other request",
        "responseTimeout": "503 `ServiceUnavailable`; the notification may still be accepted if the disk recovers",
        "idleTimeout": "GOAWAY with `IdleTimeout`, then the connection is closed",
        "outputTimeout": "the connection is closed",
        "lingerTimeout": "the connection is closed",
        "heartbeatInterval":
            "a comment line or a ping is sent, and a WebSocket that did not answer a ping is closed; a device reconnects "
            + "if it receives nothing for this interval and a few more seconds",
        "heartbeatIntervalMax": "a device that requests a longer interval gets this one",
        "drainTimeout": "GOAWAY is sent to connections that are still busy",
        "replacementCheckTimeout": "the check fails; the present program continues, and logs `replacement_failed`",
        "shutdownTimeout": "the remaining connections are closed, and the process ends",
        "ephemeralNotificationCountMax": "the oldest tenth is discarded",
        "panelAlertCountMax": "further alerts go to the notification server; without a notification server, they wait",
        "panelFetchTimeout": "the alert goes to the notification server, and the panel is not used for a while",
        "panelStartCountMax": "the alerts go to the notification server, and the panel is not used for a while",
        "panelRestartDelay": "the panel is started if alerts are still waiting",
        "panelFailureBackoff": "the next alert goes to the panel",
        "linkByteCountMax": "the agent ignores the link, and the inbox says why",
        "pictureByteCountMax": "the alert has no picture, and the inbox says why",
        "pictureTimeout": "the alert is shown without its picture, and the inbox says why",
        "pictureSideMax": "the picture is scaled down; more than 4096 pixels of width or height are refused",
        "pictureRedirectCountMax": "the alert has no picture, and the inbox says why",
        "pictureFetchCountMax": "a further alert has no picture, and the inbox says why",
        "allPictureFetchCountMax": "a further alert has no picture, and the inbox says why",
        "picturesByteCountMax": "the pictures of the oldest notifications are deleted",
        "portalAnswerTimeout": "the link counts as opened",
        "replyByteCountMax": "`BadValue` for the panel; for a notification server, the app is opened without the text",
        "reminderCountMax": "`TooMany` from `RemindEntry`",
        "reminderDaysMax": "`BadValue` from `RemindEntry`",
        "programErrorByteCountMax": "the rest is discarded, and a log line reports it",
        "hookWaitingCountMax":
            "the oldest alert stays in the inbox only; if the desktop showed it, no hook runs for it",
        "hookRestartPause": "the hook is started, if nothing else has shown the alert",
        "traceLifeSecondsDefault": "older events are deleted; `trace_days` changes it",
        "traceByteCountDefault": "the oldest events are deleted; `trace_megabytes` changes it",
        "traceSearchCountMax": "429 `TooMany` from the admin API; a webhook searches again after a second",
        "traceAnswerCountMax": "the answer contains the position after which the next request continues",
        "webhookCountMax": "429 `TooMany` from the admin API",
        "webhookURLByteCountMax": "400 `BadURL` from the admin API",
        "webhookSecretByteCountMin": "400 `BadSecret` from the admin API",
        "webhookSecretByteCountMax": "400 `BadSecret` from the admin API",
        "webhookBatchCountMax": "the rest is sent immediately, in the next request",
        "listedEnrolmentCodeCountMax": "the list ends; revoke codes to see later ones",
        "announcedAuthorityCountMax":
            "another one is refused with `TooMany`; remove one with `posthorn authority remove`",
        "authorityByteCountMax": "the certificate is refused",
        "previousAuthorityDayCount": "devices drop it; the server no longer has its key",
        "enrolmentCodeLifeSeconds": "the code no longer works; create a new one with `posthorn enrol`",
    ]

    /// Reads the constants of Limits.swift with their documentation.
    static func constants(in source: String) throws -> [Constant] {
        var topic = ""
        var documentation: [String] = []
        var constants: [Constant] = []
        for line in source.split(separator: "\n") {
            if let mark = line.firstMatch(of: /\/\/ MARK: (.+)/) { topic = String(mark.1) }
            if let comment = line.wholeMatch(of: /\s*\/\/\/ ?(.*)/) {
                documentation.append(String(comment.1))
                continue
            }
            defer { documentation = [] }
            guard line.contains("static let") else { continue }
            let declaration = /\s*(?:public|package) static let (\w+)(?:: \w+)? = (.+)/
            guard let match = line.wholeMatch(of: declaration), let value = readable(match.2) else {
                throw Unreadable(line: String(line))
            }
            let text = documentation.filter { !$0.isEmpty }.joined(separator: " ")
            constants.append(Constant(topic: topic, name: String(match.1), value: value, documentation: text))
        }
        return constants
    }

    /// Formats a product or a power of two as one number, and a duration with its unit.
    static func readable(_ expression: Substring) -> String? {
        if let duration = expression.wholeMatch(of: /Duration\.(seconds|milliseconds)\(([0-9_]+)\)/) {
            return "\(duration.2.filter(\.isNumber)) \(duration.1 == "seconds" ? "s" : "ms")"
        }
        if let shift = expression.wholeMatch(of: /([0-9]+) << ([0-9]+)/), let value = Int(shift.1),
            let bits = Int(shift.2)
        {
            return String(value << bits)
        }
        guard expression.wholeMatch(of: /[0-9_* ]+/) != nil else { return nil }
        let factors = expression.split(separator: "*").map { $0.filter(\.isNumber) }
        return String(factors.reduce(1) { $0 * (Int($1) ?? 0) })
    }

    static func render(_ constants: [Constant], clusterSection: String) -> String {
        let names = Set(constants.map(\.name))
        for stale in consequences.keys where !names.contains(stale) {
            Issue.record("Limits has no \(stale) any more")
        }
        var topics: [String] = []
        for constant in constants where !topics.contains(constant.topic) { topics.append(constant.topic) }
        let sections = topics.map { topic in
            "## \(topic)\n\n\(table(constants.filter { $0.topic == topic }))"
        }
        return introduction + sections.joined(separator: "\n\n") + "\n\n" + clusterSection + conclusion
    }

    private static func table(_ constants: [Constant]) -> String {
        let rows = constants.map { constant -> String in
            guard let consequence = consequences[constant.name] else {
                Issue.record("say in LimitsPage what happens at Limits.\(constant.name)")
                return ""
            }
            let text = constant.documentation.drop { $0 == "." }
            return "| `\(constant.name)` | \(text) | \(constant.value) | \(consequence) |"
        }
        return "| Name | Description | Value | At the limit |\n|---|---|---|---|\n" + rows.joined(separator: "\n")
    }

    private static let introduction = """
        # Limits

        <!-- Made from Limits.swift, Limits+Agent.swift and the limits of the cluster by `make pages`. -->

        Everything in Posthorn has a limit. This page lists the limits, with the sizes and intervals from which limits are
        derived, and the behavior at each limit. The [glossary](glossary.md) explains *loop*, *principal* and *memory
        budget*. "Nothing" means that the value itself refuses nothing.


        """

    private static let conclusion = """

        ## Libraries

        The server requires libnghttp2 1.52.0-1+deb12u3 or newer and OpenSSL 3.0.22 or newer. Older versions have
        defects through which a peer can crash the process. The server does not start with an older OpenSSL. It cannot
        check nghttp2, which does not report its patch level: `make setup` or the administrator must install that
        version.

        ## Known gaps

        - Several servers can [work as one](../how-to/several-machines.md) with PostgreSQL. A cluster has at most 100 nodes. A
          cluster of more than three nodes was not [measured](../explanation/capacity.md#several-machines).

        """
}
