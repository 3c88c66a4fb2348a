// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// `posthorn quota`: how much teams, keys and apps may send.
package enum QuotaCommands {
    static let group = CommandNode(
        group: "quota", "Show and set how much teams, keys and apps may send.",
        discussion: """
            What is set here for one of them wins over what the server's configuration says for all, at once and over \
            restarts. Who reaches a limit is answered with TooManyRequests.
            """,
        children: [list, set, clear], defaultChild: "list")

    private static let subjects: OptionTable = [
        Option("team", value: "TEAM", "The team, by its id: all its apps together."),
        Option("key", short: "k", value: "KEYID", "The key, by its id; a client certificate by its fingerprint."),
        Option("topic", short: "t", value: "TOPIC", "The app, by its topic."),
    ]

    private static let list = CommandNode(
        Command(
            "list", "List the limits, and how much of each is used.",
            discussion: """
                ALLOWED is how many may come: of a rate at once (its burst), else in a day of UTC or in an hour, as LIMIT \
                says. USED and REMAINING add up to it, and RESETS IN says when all of it may come again. REFUSED counts \
                since the server started. Without an option all are listed.
                """,
            options: subjects)
    ) { (invocation, surroundings) throws(CommandError) in
        let client = surroundings.admin(invocation)
        let chosen = chosen(invocation)
        guard !chosen.isEmpty else { return report(of: try client.send(.get("quotas"), for: AdminAPI.Quotas.self)) }
        var quotas: [AdminAPI.Quota] = []
        for subject in chosen {
            let request = AdminRequest.get("quotas", subject.kind.rawValue, subject.name)
            quotas += try client.send(request, for: AdminAPI.Quotas.self, about: invocation.values("topic")).quotas
        }
        return report(of: AdminAPI.Quotas(quotas: quotas))
    }

    private static let set = CommandNode(
        Command(
            "set", "Limit one team, key or app.",
            discussion: "What is left out stays as it is. 0 is no limit, whatever the server's configuration says.",
            options: subjects + [
                Option("rate", short: "r", value: "N", "Requests a second."),
                Option(
                    "burst", short: "b", value: "N", "Requests that may come at once; as many as --rate if left out."),
                Option("daily", short: "d", value: "N", "Notifications in one day of UTC."),
                Option(
                    "bad-tokens", value: "N",
                    "Device tokens in an hour that are none of this server, or another app's; for a team."),
            ],
            examples: [
                Explanation(
                    "posthorn quota set --topic org.example.Mail --rate 50 --burst 500", "50 a second, 500 at once."),
                Explanation("posthorn quota set --topic org.example.Mail --daily 100000", "At most so many a day."),
                Explanation("posthorn quota set --key ABCDE12345 --rate 0", "No rate for this key."),
            ])
    ) { (invocation, surroundings) throws(CommandError) in
        let request = try changeRequest(invocation)
        let client = surroundings.admin(invocation)
        let quotas = try client.send(request, for: AdminAPI.Quotas.self, about: invocation.values("topic"))
        return report(of: quotas)
    }

    private static let clear = CommandNode(
        Command(
            "clear", "Take back what was set for one team, key or app.",
            discussion: "What the server's configuration says holds again. What is used of the day stays used.",
            options: subjects)
    ) { (invocation, surroundings) throws(CommandError) in
        let subject = try one(invocation)
        try surroundings.admin(invocation).send(.delete("quotas", subject.kind.rawValue, subject.name))
        return Report("Cleared the limits of \(subject.kind.rawValue) \(oneLine(subject.name)).", json: Done())
    }

    /// Whom the options name.
    private static func chosen(_ invocation: Invocation) -> [QuotaSubject] {
        QuotaSubject.Kind.allCases.compactMap { kind in
            invocation.value(kind.rawValue).map { QuotaSubject(kind, $0) }
        }
    }

    private static func one(_ invocation: Invocation) throws(CommandError) -> QuotaSubject {
        let chosen = chosen(invocation)
        guard chosen.count == 1 else {
            throw .advised(
                .usage(
                    invocation.error(
                        .contradiction(chosen.isEmpty ? "it is not said whose limits" : "limits are of one at a time"))),
                remedy: "Give one of --team, --key and --topic.")
        }
        return chosen[0]
    }

    /// What `quota set` asks of the server.
    ///
    /// - Parameter invocation: With whom to limit, and how.
    /// - Returns: The request.
    /// - Throws: When it names nobody or several, nothing to change, or a number that is none.
    package static func changeRequest(_ invocation: Invocation) throws(CommandError) -> AdminRequest {
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
                .usage(invocation.error(.contradiction("there is nothing to change"))),
                remedy: "Add --rate, --burst, --daily or --bad-tokens.")
        }
        return .patch("quotas", subject.kind.rawValue, subject.name, body: limits)
    }

    /// What `quota list` and `quota set` print.
    package static func report(of quotas: AdminAPI.Quotas) -> Report {
        let device = quotas.deviceRate.map { rate in
            "Each device token: \(rate) requests a second, \(quotas.deviceBurst ?? rate) at once."
        }
        guard !quotas.quotas.isEmpty else {
            let none = "No limits. Set one: posthorn quota set --topic TOPIC --rate N"
            return Report([none, device].compactMap(\.self).joined(separator: "\n"), json: quotas)
        }
        let table = Table(
            [
                .text("OF"), .text("NAME"), .text("LIMIT"), .number("ALLOWED"), .number("USED"), .number("REMAINING"),
                .number("RESETS IN"), .number("REFUSED"),
            ],
            rows: quotas.quotas.map { quota in
                [
                    quota.kind.rawValue, quota.name, words(for: quota), "\(quota.allowed)", "\(quota.used)",
                    "\(quota.remaining)", "\(quota.resetsIn) s", "\(quota.refused)",
                ]
            })
        return Report([table.text, device].compactMap(\.self).joined(separator: "\n"), json: quotas)
    }

    private static func words(for quota: AdminAPI.Quota) -> String {
        switch quota.limit {
        case .rate: "\(quota.rate ?? quota.allowed) a second"
        case .daily: "a day"
        case .badTokens: "bad tokens an hour"
        }
    }
}
