// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI
internal import PushCore

/// The command `posthorn quota`: limits how much teams, keys and apps may send.
enum QuotaCommands {
    static let group = CommandNode(
        group: "quota", "Manage the rates and quotas of teams, keys and apps.",
        discussion: """
            Limits set here for one team, key or app override the defaults in the server's configuration. They take \
            effect immediately and survive restarts. Requests over a limit are refused with TooManyRequests.
            """,
        children: [list, set, clear], defaultChild: "list")

    private static let subjects: OptionTable = [
        Option("team", value: "TEAM", "The team ID; the limit covers all apps of the team."),
        Option("key", short: "k", value: "KEYID", "The key ID, or the fingerprint of a client certificate."),
        Option("topic", short: "t", value: "TOPIC", "The topic of the app."),
    ]

    private static let list = CommandNode(
        Command(
            "list", "List the limits and their usage.",
            discussion: """
                ALLOWED is the burst of a rate, or the number per UTC day or per hour, depending on LIMIT. USED plus \
                REMAINING is ALLOWED. RESETS IN is the time until all of ALLOWED is available again. REFUSED counts \
                all refusals of the team, key or app since the server started. Without options, all limits are listed.
                """,
            options: subjects)
    ) { (invocation, context) throws(CommandError) in
        let client = context.admin(invocation)
        let chosen = chosen(invocation)
        guard !chosen.isEmpty else { return report(of: try client.send(.get("quotas"), for: AdminAPI.Quotas.self)) }
        var quotas: [AdminAPI.Quota] = []
        for subject in chosen {
            let request = AdminRequest.get("quotas", subject.kind.rawValue, subject.name)
            quotas += try client.send(
                request, for: AdminAPI.Quotas.self, about: invocation.values("topic").map { TopicName($0) }
            ).quotas
        }
        return report(of: AdminAPI.Quotas(quotas: quotas))
    }

    private static let set = CommandNode(
        Command(
            "set", "Set limits for a team, key or app.",
            discussion: "Options that are not given leave the limit unchanged. 0 means no limit.",
            options: subjects + [
                Option("rate", short: "r", value: "N", "Requests per second."),
                Option(
                    "burst", short: "b", value: "N",
                    "Requests that may arrive at the same time. Default: the value of --rate."),
                Option("daily", short: "d", value: "N", "Notifications per UTC day."),
                Option(
                    "bad-tokens", value: "N",
                    "Invalid device tokens per hour (unknown, or of another app); for teams only."),
            ],
            examples: [
                Explanation(
                    "posthorn quota set --topic org.example.Mail --rate 50 --burst 500",
                    "Allow 50 requests per second with bursts of 500."),
                Explanation(
                    "posthorn quota set --topic org.example.Mail --daily 100000", "Allow 100000 notifications per day."),
                Explanation("posthorn quota set --key ABCDE12345 --rate 0", "Remove the rate limit of a key."),
            ])
    ) { (invocation, context) throws(CommandError) in
        let request = try changeRequest(invocation)
        let client = context.admin(invocation)
        let quotas = try client.send(
            request, for: AdminAPI.Quotas.self, about: invocation.values("topic").map { TopicName($0) })
        let subject = try one(invocation)
        return report(of: quotas, ifNone: "No limits for \(subject.kind.rawValue) \(oneLine(subject.name)).")
    }

    private static let clear = CommandNode(
        Command(
            "clear", "Remove the limits set for a team, key or app.",
            discussion: "The defaults in the server's configuration apply again. Daily usage is not reset.",
            options: subjects)
    ) { (invocation, context) throws(CommandError) in
        let subject = try one(invocation)
        try context.admin(invocation).send(.delete("quotas", subject.kind.rawValue, subject.name))
        return Report("Cleared the limits of \(subject.kind.rawValue) \(oneLine(subject.name)).", json: Done())
    }

    /// Returns the teams, keys and apps that the options name.
    private static func chosen(_ invocation: Invocation) -> [QuotaSubject] {
        QuotaSubject.Kind.allCases.compactMap { kind in
            invocation.value(kind.rawValue).map { QuotaSubject(kind, $0) }
        }
    }

    private static func one(_ invocation: Invocation) throws(CommandError) -> QuotaSubject {
        let chosen = chosen(invocation)
        guard chosen.count == 1 else {
            throw .usage(
                invocation.error(
                    .contradiction("specify \(chosen.isEmpty ? "" : "only one of ")--team, --key or --topic")))
        }
        return chosen[0]
    }

    /// Builds the request of `quota set`.
    ///
    /// - Parameter invocation: The command line, with one subject and its limits.
    /// - Returns: The request.
    /// - Throws: An error when there is not exactly one subject, no limit is given, or a number is invalid.
    static func changeRequest(_ invocation: Invocation) throws(CommandError) -> AdminRequest {
        let subject = try one(invocation)
        let limits: QuotaLimits
        do throws(UsageError) {
            limits = QuotaLimits(
                rate: try invocation.integer("rate", in: 0...Limits.quotaRateMax),
                burst: try invocation.integer("burst", in: 1...Limits.quotaRateMax),
                daily: try invocation.integer("daily", in: 0...Limits.quotaCountMax),
                badTokens: try invocation.integer("bad-tokens", in: 0...Limits.quotaCountMax))
        } catch {
            throw .usage(error)
        }
        guard !limits.isEmpty else {
            throw .advised(
                .usage(invocation.error(.contradiction("nothing to change"))),
                remedy: "Specify --rate, --burst, --daily or --bad-tokens.")
        }
        return .patch("quotas", subject.kind.rawValue, subject.name, body: limits)
    }

    /// Formats the output of `quota list` and `quota set`.
    ///
    /// - Parameters:
    ///   - quotas: The limits.
    ///   - none: The text if there are none; by default it says how to set one.
    /// - Returns: A table, or the text.
    static func report(
        of quotas: AdminAPI.Quotas,
        ifNone none: String = "No limits. Set one with 'posthorn quota set --topic TOPIC --rate N'."
    ) -> Report {
        let device = quotas.deviceRate.map { rate in
            "Each device token: \(rate) requests per second, burst \(quotas.deviceBurst ?? rate)."
        }
        guard !quotas.quotas.isEmpty else {
            return Report([none, device].compactMap(\.self).joined(separator: "\n"), json: quotas)
        }
        let table = Table(
            [
                .text("TYPE"), .text("NAME"), .text("LIMIT"), .number("ALLOWED"), .number("USED"), .number("REMAINING"),
                .number("RESETS IN"), .number("REFUSED"),
            ],
            rows: quotas.quotas.map { quota in
                [
                    quota.kind.rawValue, quota.name, words(for: quota), "\(quota.allowed)", "\(quota.used)",
                    "\(quota.remaining)", TimeSpan.text(seconds: quota.resetsIn), "\(quota.refused)",
                ]
            })
        return Report([table.text, device].compactMap(\.self).joined(separator: "\n"), json: quotas)
    }

    private static func words(for quota: AdminAPI.Quota) -> String {
        switch quota.limit {
        case .rate: "\(quota.rate ?? quota.allowed) per second"
        case .daily: "per day"
        case .badTokens: "bad tokens per hour"
        }
    }
}
