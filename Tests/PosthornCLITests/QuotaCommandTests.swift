// SPDX-License-Identifier: Apache-2.0

@testable import PosthornCLI
internal import PushAPI
internal import PushCore
internal import Testing

struct QuotaCommandTests {
    @Test(arguments: [
        (["--topic", "a/b", "--rate", "5"], #"/v1/quotas/topic/a%2Fb {"rate":5}"#),
        (["-t", "a", "-r", "5", "-b", "50", "-d", "0"], #"/v1/quotas/topic/a {"burst":50,"daily":0,"rate":5}"#),
        (["--team", "TEAM000001", "--bad-tokens", "1000"], #"/v1/quotas/team/TEAM000001 {"bad_tokens":1000}"#),
        (["-k", "KEY0000001", "--daily=7"], #"/v1/quotas/key/KEY0000001 {"daily":7}"#),
    ])
    func `quota set sends only the changes`(words: [String], request: String) throws {
        let sent = try QuotaCommands.changeRequest(typed(["quota", "set"] + words))
        #expect(sent.method == "PATCH")
        #expect("\(sent.path) \(String(decoding: sent.body, as: UTF8.self))" == request)
    }

    @Test(arguments: [
        (["--rate", "5"], "specify --team, --key or --topic"),
        (["--team", "T", "--topic", "a", "--rate", "5"], "specify only one of --team, --key or --topic"),
        (["--topic", "a"], "nothing to change"),
    ])
    func `quota set says what is missing`(words: [String], problem: String) throws {
        let invocation = try typed(["quota", "set"] + words)
        let error = thrown { () throws(CommandError) in _ = try QuotaCommands.changeRequest(invocation) }
        #expect(error?.exitCode == .usage && error?.problem == problem)
    }

    @Test(arguments: ["-1", "1.5", "many", "1000001", ""])
    func `an invalid rate is refused`(text: String) throws {
        let invocation = try typed("quota", "set", "--topic", "a", "--rate=\(text)")
        let error = thrown { () throws(CommandError) in _ = try QuotaCommands.changeRequest(invocation) }
        #expect(error?.exitCode == .usage)
    }

    @Test func `the list is a table with a line about device tokens`() throws {
        let topic = QuotaSubject(.topic, "org.example.Mail")
        let quotas = AdminAPI.Quotas(
            quotas: [
                AdminAPI.Quota(topic, .rate, allowed: 50, rate: 5, remaining: 20, resetsIn: 6, refused: 3),
                AdminAPI.Quota(topic, .daily, allowed: 100, remaining: 99, resetsIn: 59_331, refused: 3),
            ], deviceRate: 100, deviceBurst: 1000)
        #expect(
            QuotaCommands.report(of: quotas).text == """
                TYPE   NAME              LIMIT         ALLOWED  USED  REMAINING    RESETS IN  REFUSED
                topic  org.example.Mail  5 per second       50    30         20          6 s        3
                topic  org.example.Mail  per day           100     1         99  16 h 28 min        3
                Each device token: 100 requests per second, burst 1000.
                """)
        #expect(
            QuotaCommands.report(of: AdminAPI.Quotas(quotas: [])).text
                == "No limits. Set one with 'posthorn quota set --topic TOPIC --rate N'.")
    }
}
