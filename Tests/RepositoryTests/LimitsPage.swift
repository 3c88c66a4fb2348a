// SPDX-License-Identifier: Apache-2.0

internal import Testing

/// Generates docs/reference/limits.md from the text of Limits.swift and the consequences below.
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
        "providerTokenUpdateSeconds": "an older update does not count any more",
        "rememberedProviderTokenCountMax":
            "the one that was used longest ago is forgotten, and is new when it comes again",
        "payloadHistoryCountMax":
            "the alerts that were sent longest ago are forgotten: no warning about repeats of them",
        "deviceTokenDigitCount": "400 `BadDeviceToken`",
        "listenAddressCountMax": "the server does not start, and says which setting is wrong",
        "tokenLifeSecondsDefault": "410 `ExpiredToken`; `token_life_days` changes it",
        "collapseIDByteCountMax": "400 `BadCollapseId`",
        "topicByteCountMax": "400 `BadTopic`; an app with a longer topic cannot be added",
        "certificateTopicCountMax": "403 `BadCertificate`",
        "certificateDayCountMax": "400 `BadRequest` from the admin API",
        "providerTokenAgeSecondsMax": "403 `ExpiredProviderToken`",
        "providerTokenByteCountMax": "403 `InvalidProviderToken`, without a look at the signature",
        "jsonDepthMax": "400 `PayloadEmpty`: the payload is no JSON object that devices would read",
        "reservedDescriptorCount":
            "idle connections without a credential are closed for new ones; where none is idle, new ones wait",
        "connectionCountMin": "the same; `connections` changes the bound",
        "strangerGrace":
            "above `connections_per_address` or `connections_before_authentication` the connection is closed",
        "strangerPatience":
            "GOAWAY with `IdleTimeout`, and the connection is closed; `seconds_before_authentication` changes it",
        "strangersPerSearchCountMax": "none is closed, and the new connection waits",
        "connectionShares": "the principal's youngest connections are closed when no stranger is left to make room",
        "connectionsPerPrincipalCountMin": "none of the principal's connections is closed for others",
        "handshakeCountMax": "further handshakes wait for one of these to end",
        "handshakesPerNetworkCountMax": "further handshakes from there wait for one of these to end",
        "handshakeStallPatience": "another handshake may begin; the one that stalls has until `handshakePatience`",
        "handshakeRate": "further handshakes from there wait until no other address has one",
        "handshakeBurst": "the same",
        "memorySharesCount":
            "streams are reset with REFUSED_STREAM and nothing is read until less is held; of those without a credential "
            + "the youngest are closed",
        "memoryBudgetByteCountMin": "nothing; `memory_budget_megabytes` may be less",
        "memoryBudgetByteCountDefault": "the same as at `memorySharesCount`, for all connections together",
        "memoryReportByteCount": "nothing: a connection that holds less counts as one that holds nothing",
        "residentGrowthByteCount": "nothing that a peer sees",
        "residentCheckInterval": "nothing that a peer sees",
        "concurrentStreamCountMax": "the stream is reset with REFUSED_STREAM, which providers send again",
        "headerListByteCountMax": "status 431 for this request",
        "advertisedHeaderListByteCountMax": "nothing: it is what the server tells peers",
        "headerFieldCountMax": "status 431 for this request",
        "controlBodyByteCountMax": "status 413, on a WebSocket close code 1009",
        "outputByteCountHigh": "nothing more is read from this connection until it has taken what waits",
        "outputByteCountMax": "the connection is closed",
        "retainedByteCountOfStrangerMax":
            "new streams are reset with REFUSED_STREAM, and so is a request whose body does not fit; on HTTP/1.1 status 413",
        "retainedByteCountMax":
            "new streams are reset with REFUSED_STREAM; with twice as many in answers that wait, GOAWAY with "
            + "ENHANCE_YOUR_CALM",
        "streamCountBeforeEarlyAuthentication": "nothing, unless it fails: then the next streams are refused at 100",
        "streamEventByteCountMax": "the device drops the connection and connects anew",
        "pendingPerTopicCountMax":
            "the oldest notification that waits is dropped, and counted as `dropped`; `pending_per_topic` changes it",
        "pendingPerDeviceCountMax":
            "the fullest team's oldest is dropped, and counted as `dropped`; `pending_per_device` changes it",
        "deliveryHistoryCountMax":
            "outcomes of older ones are ignored and counted in `glitches`; the team that has most is forgotten first",
        "unacknowledgedCountMax": "the next one is sent after an acknowledgement",
        "retentionSecondsMax": "the notification expires, and is counted as `expired`",
        "acknowledgementBatchCountMax":
            "status 429, on a WebSocket close code 1009; the agent sends several batches",
        "acknowledgementsPerNotification": "the WebSocket is closed with code 1008, once those above are used up",
        "requestIDByteCountMin": "400 `BadRequest`",
        "requestIDByteCountMax": "400 `BadRequest`",
        "filterTopicCountMax": "status 429",
        "listedDeviceCountMax": "the answer has `next`, behind which the next request continues",
        "waitingRequestPerDeviceCountMax": "429 `Busy`; the agent tries again later",
        "registrationPerDeviceCountMax": "status 429 for the registration",
        "displayNameByteCountMax": "status 400",
        "teamBadTokensDefault": "429 `TooManyRequests` for bad device tokens; `team_bad_tokens` changes it",
        "strangerRequestRateDefault": "429, and the connection ends; `stranger_requests` changes it",
        "strangerRequestBurstDefault": "429, and the connection ends; `stranger_requests` changes it",
        "strangerCredentialRateDefault":
            "429, and the connection ends after one wrong credential; `stranger_credentials` changes it",
        "strangerCredentialBurstDefault":
            "429, and the connection ends after one wrong credential; `stranger_credentials` changes it",
        "strangerEnrolmentRateDefault": "status 429 for the enrolment; `stranger_enrolments` changes it",
        "strangerEnrolmentBurstDefault": "status 429 for the enrolment; `stranger_enrolments` changes it",
        "strangerRateCountMax": "the network that used least of its burst has all of it again",
        "wrongCredentialPerConnectionCountMax": "the answer goes out, then GOAWAY, and the connection is closed",
        "deviceRequestRateDefault": "status 429; `device_requests` changes it",
        "deviceRequestBurstDefault": "status 429; `device_requests` changes it",
        "acknowledgementRateDefault":
            "status 429, on a WebSocket close code 1008; `device_acks` changes it",
        "acknowledgementBurstDefault":
            "status 429, on a WebSocket close code 1008; `device_acks` changes it",
        "deviceStreamRateDefault": "status 429; `device_streams` changes it",
        "deviceStreamBurstDefault": "status 429; `device_streams` changes it",
        "deviceRateDefault": "429 `TooManyRequests`; `device_rate` changes it",
        "deviceBurstDefault": "429 `TooManyRequests`; `device_rate` changes it",
        "deviceRateCountMax": "the device token that used least of its burst has all of it again",
        "quotaRateMax": "the server does not start, or the admin API answers status 400",
        "quotaCountMax": "the server does not start, or the admin API answers status 400",
        "policyRuleCountMax": "the admin API answers `TooMany`, status 429",
        "quotaSubjectCountMax":
            "those that used nothing of late are forgotten; beyond as many that are busy, a new one has no limits",
        "quotaNoteInterval": "the counts of days are written down; a kill loses what came since",
        "readBufferByteCount": "the rest is read in the next turn",
        "readsPerTurnCountMax": "the rest is read in the next turn",
        "handshakeStepsPerTurnCountMax": "the next turn goes on with them",
        "acceptsPerTurnCountMax": "the rest is accepted in the next turn",
        "connectionChangesPerTrimCount": "once the burst is over, the loop gives its memory back to the system",
        "unansweredAcceptCountMax": "503 `ServiceUnavailable`",
        "listingPerConnectionCountMax": "429 `TooManyRequests`",
        "listingPerLoopCountMax": "429 `TooManyRequests`",
        "listingPerTeamCountMax": "429 `TooManyRequests` for this team; other teams get their lists",
        "listingUnreadPerTeamCountMax": "429 `TooManyRequests` for this team; other teams get their lists",
        "smallBodyByteCountMax": "status 413",
        "strangerBodyByteCountMax":
            "401 when no device has the secret, else 503 with `retry-after`: the device sends the request again",
        "deviceSecretCacheCountMax": "the store is asked for a device that sent nothing for long",
        "unknownSecretCacheCountMax": "the store is asked again for a secret that it does not know",
        "handshakePatience": "the connection is closed",
        "requestPatience":
            "400 `IdleTimeout` for the request, and the connection is closed when it has no other",
        "answerPatience": "503 `ServiceUnavailable`: it may have been accepted all the same, when the disk goes on",
        "idlePatience": "GOAWAY with `IdleTimeout`, and the connection is closed",
        "outputPatience": "the connection is closed",
        "lingerPatience": "the connection is closed",
        "heartbeatInterval":
            "a comment line or a ping is sent, and a WebSocket whose ping was not answered is closed; a device that hears "
            + "nothing for some seconds more connects anew",
        "heartbeatIntervalMax": "a device that asks for more gets this",
        "drainPatience": "GOAWAY is sent to those who are still busy",
        "shutdownPatience": "connections that are left are closed, and the process ends",
        "ephemeralNotificationCountMax": "the oldest tenth is forgotten",
        "panelAlertCountMax": "the notification server gets more; without one they wait",
        "panelPatience": "the notification server gets the alert, and the panel is left alone for a while",
        "panelStartCountMax": "the notification server gets the alerts, and the panel is left alone for a while",
        "panelPause": "the panel is started, if alerts wait still",
        "panelRest": "the next alert goes to the panel",
        "replyByteCountMax": "`BadValue` for the panel; from a notification server the app is opened without the text",
        "programErrorByteCountMax": "the rest is thrown away, and a line of the log says so",
        "hookWaitingCountMax": "the oldest is left to the inbox; one that the desktop showed has no hook run for it",
        "hookRestartPause": "it is started, if nothing else has shown the alert",
        "traceLifeSecondsDefault": "older events are deleted; `trace_days` changes it",
        "traceByteCountDefault": "the oldest events are deleted; `trace_megabytes` changes it",
        "traceSearchCountMax": "429 `TooMany` from the admin API; a webhook looks again a second later",
        "traceAnswerCountMax": "the answer names the place behind it, from which the next request goes on",
        "webhookCountMax": "429 `TooMany` from the admin API",
        "webhookURLByteCountMax": "400 `BadURL` from the admin API",
        "webhookSecretByteCountMin": "400 `BadSecret` from the admin API",
        "webhookSecretByteCountMax": "400 `BadSecret` from the admin API",
        "webhookBatchCountMax": "the rest goes with the next request, at once",
        "listedEnrolmentCodeCountMax": "the list ends; revoke codes to see later ones",
        "enrolmentCodeLifeSeconds": "the code no longer works; make a new one with `posthorn enrol`",
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
            let text = documentation.joined(separator: " ")
            constants.append(Constant(topic: topic, name: String(match.1), value: value, documentation: text))
        }
        return constants
    }

    /// Formats a product as one number, and a duration with its unit.
    private static func readable(_ expression: Substring) -> String? {
        if let duration = expression.wholeMatch(of: /Duration\.(seconds|milliseconds)\(([0-9_]+)\)/) {
            return "\(duration.2.filter(\.isNumber)) \(duration.1 == "seconds" ? "s" : "ms")"
        }
        guard expression.wholeMatch(of: /[0-9_* ]+/) != nil else { return nil }
        let factors = expression.split(separator: "*").map { $0.filter(\.isNumber) }
        return String(factors.reduce(1) { $0 * (Int($1) ?? 0) })
    }

    static func render(_ constants: [Constant]) -> String {
        let names = Set(constants.map(\.name))
        for stale in consequences.keys where !names.contains(stale) {
            Issue.record("Limits has no \(stale) any more")
        }
        var topics: [String] = []
        for constant in constants where !topics.contains(constant.topic) { topics.append(constant.topic) }
        let sections = topics.map { topic in
            "## \(topic)\n\n\(table(constants.filter { $0.topic == topic }))"
        }
        return introduction + sections.joined(separator: "\n\n") + "\n" + conclusion
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
        return "| Name | What | Value | At the limit |\n|---|---|---|---|\n" + rows.joined(separator: "\n")
    }

    private static let introduction = """
        # Limits

        <!-- Made from Limits.swift by `make pages`. -->

        Everything in Posthorn has a bound. These are the ones that somebody outside can meet, and what happens there.


        """

    private static let conclusion = """

        ## Libraries

        The server needs libnghttp2 1.52.0-1+deb12u3 or newer and OpenSSL 3.0.22 or newer: older ones have faults by which
        a peer can end the process. It does not start on an older OpenSSL; nghttp2 does not tell its patch level, so that
        one is up to `make setup` and to you.

        ## Not there yet

        - One server is one machine: there is no cluster.
        - No metrics endpoint; `posthorn status --json` has the counts.

        """
}
