// SPDX-License-Identifier: Apache-2.0

internal import Testing

/// Makes docs/reference/limits.md from the text of Limits.swift; what happens at each limit is written here.
enum LimitsPage {
    /// One constant of `Limits`.
    struct Constant {
        let topic: String
        let name: String
        let value: Int
        let documentation: String
    }

    /// A line of Limits.swift that is not understood.
    struct Unreadable: Error {
        let line: String
    }

    /// What happens when a limit is reached; a constant without an entry fails the test.
    static let consequences = [
        "payloadByteCountMax": "413 `PayloadTooLarge`",
        "voipPayloadByteCountMax": "413 `PayloadTooLarge`",
        "collapseIDByteCountMax": "400 `BadCollapseId`",
        "topicByteCountMax": "400 `BadTopic`; an app with a longer topic cannot be added",
        "providerTokenAgeSecondsMax": "403 `ExpiredProviderToken`",
        "providerTokenByteCountMax": "403 `InvalidProviderToken`, without a look at the signature",
        "jsonDepthMax": "400 `PayloadEmpty`: the payload is no JSON object that devices would read",
        "concurrentStreamCountMax": "the stream is reset with REFUSED_STREAM, which providers send again",
        "headerListByteCountMax": "status 431 for this request",
        "advertisedHeaderListByteCountMax": "nothing: it is what the server tells peers",
        "headerFieldCountMax": "status 431 for this request",
        "controlBodyByteCountMax": "status 413",
        "outputByteCountHigh": "nothing more is read from this connection until it has taken what waits",
        "outputByteCountMax": "the connection is closed",
        "pendingPerTopicCountMax": "the oldest notification that waits is dropped, and counted as `dropped`",
        "unacknowledgedCountMax": "the next one is sent after an acknowledgement",
        "retentionSecondsMax": "the notification expires, and is counted as `expired`",
        "acknowledgementBatchCountMax": "status 400; the agent sends several batches",
        "filterTopicCountMax": "status 400",
        "registrationPerDeviceCountMax": "status 400 for the registration",
        "displayNameByteCountMax": "status 400",
        "enrolmentCodeLifeSeconds": "the code no longer works; make a new one with `posthorn enrol`",
    ]

    /// Reads the constants of Limits.swift with their documentation.
    static func constants(in source: String) throws -> [Constant] {
        var topic = ""
        var documentation: [String] = []
        var constants: [Constant] = []
        for line in source.split(separator: "\n") {
            if let mark = line.firstMatch(of: /\/\/ MARK: (.+)/) { topic = String(mark.1) }
            if let comment = line.wholeMatch(of: /\s*\/\/\/ ?(.*)/) { documentation.append(String(comment.1)) }
            guard line.contains("static let") else { continue }
            guard let match = line.wholeMatch(of: /\s*(?:public|package) static let (\w+)(?:: \w+)? = ([0-9_* ]+)/)
            else {
                throw Unreadable(line: String(line))
            }
            let factors = match.2.split(separator: "*").map { $0.filter(\.isNumber) }
            let value = factors.reduce(1) { $0 * (Int($1) ?? 0) }
            constants.append(
                Constant(
                    topic: topic, name: String(match.1), value: value,
                    documentation: documentation.joined(separator: " ")))
            documentation = []
        }
        return constants
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

        The server wants libnghttp2 1.52.0-1+deb12u3 or newer and OpenSSL 3.0.22 or newer. Older ones have faults by which
        a peer can end the process; `make setup` and the package's dependencies see to it.

        ## Not there yet

        - No WebSocket beside the event stream, so a device's connection is HTTP/2 and costs about 38 KiB.
        - No client certificates for providers: they sign in with provider tokens.
        - No broadcast channels (`/4/broadcasts`) and no channel management.
        - One server is one machine: there is no cluster.
        - No metrics endpoint; `posthorn status --json` has the counts.

        """
}
