// SPDX-License-Identifier: Apache-2.0

internal import Testing

/// The section for several servers, from the types of the cluster that have limits.
extension LimitsPage {
    /// A limit that an administrator can reach or see.
    struct ClusterLimit {
        let type: String
        let name: String
        let consequence: String

        init(_ place: String, _ consequence: String) {
            let parts = place.split(separator: ".")
            precondition(parts.count == 2, "\(place) is not TYPE.NAME")
            (type, name, self.consequence) = (String(parts[0]), String(parts[1]), consequence)
        }
    }

    /// The limits of several servers, in the order of the page.
    static let clusterLimits = [
        ClusterLimit("NodeNumber.count", "a further node does not start; `posthorn cluster remove` frees a number"),
        ClusterLimit(
            "LinkSettings.nodeCountMax", "a further node does not start, and exits with 78"),
        ClusterLimit(
            "LinkSettings.waitingByteCountMax",
            "the link is closed and opened again; until then, notifications pass through PostgreSQL"),
        ClusterLimit("LinkSettings.pingMilliseconds", "nothing; a node sends the next ping"),
        ClusterLimit("LinkSettings.unansweredPingCountMax", "the link is closed and opened again"),
        ClusterLimit("LinkSettings.attemptMilliseconds", "the attempt fails, and the node tries again"),
        ClusterLimit("NodeMessageLimits.notificationCountMax", "the next message has the rest"),
        ClusterLimit("NodeMessageLimits.payloadByteCountMax", "the next message has the rest"),
        ClusterLimit("NodeMessageLimits.packetByteCountMax", "the next packet has the rest"),
        ClusterLimit(
            "NodeConfiguration.leaseMilliseconds", "the node accepts and delivers nothing until the next heartbeat"),
        ClusterLimit(
            "ClockAgreement.suspensionDifferenceMax",
            "the node accepts and delivers nothing, and logs `clock_suspends`, until the clocks agree"),
        ClusterLimit(
            "NodeConfiguration.patienceMilliseconds", "503 `ServiceUnavailable`; `accept_patience` changes it"),
        ClusterLimit("NodeConfiguration.waitingCountMax", "503 `ServiceUnavailable`"),
        ClusterLimit("NodeConfiguration.waitingByteCountMax", "503 `ServiceUnavailable`"),
        ClusterLimit("NodeConfiguration.answerMilliseconds", "the notification is written to PostgreSQL"),
        ClusterLimit("NodeConfiguration.graceMilliseconds", "the notification is written to PostgreSQL"),
        ClusterLimit("NodeConfiguration.busyGraceMilliseconds", "the notification is written to PostgreSQL"),
        ClusterLimit(
            "NodeConfiguration.routeCountMax",
            "some routes are evicted; the next notification for such a device needs one more query"),
        ClusterLimit(
            "NodeConfiguration.cutOffMilliseconds", "the node ends its streams, so that agents connect elsewhere"),
        ClusterLimit("ClusterLimits.rowsPerBatchCountMax", "the rest waits for the next batch"),
        ClusterLimit("ClusterLimits.jobCountMax", "429 `Busy`; the agent retries later"),
        ClusterLimit("ClusterLimits.publicationCountMax", "503 `ServiceUnavailable` for the broadcast"),
        ClusterLimit("ClusterLimits.traceBufferByteCountMax", "further events are missing from the trace"),
        ClusterLimit(
            "ClusterLimits.unwrittenHistoryCountMax", "outcomes of the notifications in further histories are ignored"),
        ClusterLimit("ClusterLimits.slotMoveMilliseconds", "another node completes or cancels the move"),
        ClusterLimit("ClusterLimits.stopMilliseconds", "the rest gets no answer, so it does not count as accepted"),
        ClusterLimit(
            "ClusterLimits.tokenKeyCountMax", "`posthorn cluster rotate-token-key` refuses to make another key"),
        ClusterLimit("PostgresLimits.attemptCountMax", "429 `Busy`; the agent retries later"),
        ClusterLimit(
            "PostgresLimits.rowsWrittenUntilTrim",
            "the node applies `pending_per_topic` and `pending_per_device` to the device"),
        ClusterLimit(
            "PostgresLimits.sweepMilliseconds", "expired rows are deleted; before that, they are not delivered"),
    ]

    /// The files that declare the types.
    private static let clusterFiles = [
        "NodeNumber": "InstanceID", "ClockAgreement": "ClockAgreement", "LinkSettings": "LinkSettings",
        "NodeMessageLimits": "NodeMessageLimits",
        "NodeConfiguration": "NodeConfiguration", "ClusterLimits": "ClusterLimits", "PostgresLimits": "PostgresLimits",
    ]

    /// Reads the limits of several servers from the source files.
    ///
    /// - Parameter sources: The source files of the package.
    /// - Returns: The section of the page.
    /// - Throws: An error for a limit without a file.
    static func clusterSection(from sources: [RepositoryFile]) throws -> String {
        let rows = try clusterLimits.map { limit in
            let name = try #require(clusterFiles[limit.type], "name the file of \(limit.type)")
            let file = try #require(sources.first { $0.path.hasSuffix("/\(name).swift") }, "\(name).swift is missing")
            guard let found = clusterConstant(limit.name, in: file.text) else {
                Issue.record("\(limit.type) has no \(limit.name) with a description and a value any more")
                return ""
            }
            return "| `\(limit.type).\(limit.name)` | \(found.description) | \(found.value) | \(limit.consequence) |"
        }
        return """
            ## Several servers

            These limits apply to each node of [several servers](../how-to/several-machines.md), and to one server with PostgreSQL.
            Names that end in `Milliseconds` are times in milliseconds.

            | Name | Description | Value | At the limit |
            |---|---|---|---|

            """ + rows.joined(separator: "\n") + "\n"
    }

    /// Finds the first declaration with a value, and the documentation above it.
    private static func clusterConstant(_ name: String, in source: String) -> (description: String, value: String)? {
        var documentation: [String] = []
        for line in source.split(separator: "\n") {
            if let comment = line.wholeMatch(of: /\s*\/\/\/ ?(.*)/) {
                documentation.append(String(comment.1))
                continue
            }
            let declaration = /\s*(?:package )?(?:static let|var) (\w+)(?:: \w+)? = (.+)/
            if let match = line.wholeMatch(of: declaration), match.1 == name, let value = readable(match.2),
                !documentation.isEmpty
            {
                return (documentation.filter { !$0.isEmpty }.joined(separator: " "), value)
            }
            documentation = []
        }
        return nil
    }
}
