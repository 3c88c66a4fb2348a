// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
@testable import PosthornCLI
internal import PushDBus
internal import Testing

struct AgentReportTests {
    @Test func `an app that the server no longer has does not look healthy`() {
        var app = AppRecord()
        (app.appID, app.deviceToken) = ("org.example.Mail", "00ff")
        func texts() -> [String] {
            [SettingsCommands.report(of: app, []).text, SettingsCommands.report(deviceSettings: [], apps: [app]).text]
        }
        #expect(texts().allSatisfy { !$0.contains("does not have the app") })
        app.deviceToken = ""
        #expect(texts()[0].contains("\nDevice token  none, because the server does not have the app"))
        #expect(texts()[1].contains("\n\nThe device token of org.example.Mail is missing: the server does"))
    }

    @Test(arguments: [(true, "is not valid: it expired"), (false, "is not trusted: set enrolment_code in agent.ini")])
    func `an untrusted certificate has another remedy before the enrolment`(isEnrolled: Bool, words: String) {
        let status = StatusRecord(
            .dictionary([("enrolled", .bool(isEnrolled)), ("problem", .string("certificate"))]))
        #expect(AgentCommands.report(of: status).text.contains("  The server's certificate \(words)"))
    }

    @Test func `on a terminal, the list of the inbox fits 80 columns`() {
        let text = String(repeating: "many words ", count: 100)
        let entry = InboxRecord(
            .dictionary([
                ("entry", .int64(3)), ("app_id", .string("org.example.AnAppWithALongName")), ("verified", .bool(true)),
                ("state", .string("shown")), ("title", .string("T")), ("body", .string(text)),
            ]))
        let lines = InboxCommands.report(of: [entry], onTerminal: true).text.split(separator: "\n")
        #expect((3...7).contains(lines.count) && lines.allSatisfy { $0.count <= 80 }, "\(lines)")
        let whole = InboxCommands.report(of: [entry], onTerminal: false).text.split(separator: "\n")
        #expect(whole.count == 2 && whole[1].contains(text.dropLast()))
    }
}
