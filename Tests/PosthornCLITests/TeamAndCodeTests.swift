// SPDX-License-Identifier: Apache-2.0

@testable import PosthornCLI
internal import PushAPI
internal import PushCore
internal import Testing

struct TeamAndCodeTests {
    private func app(_ topic: TopicName, _ team: String) -> AdminAPI.App {
        AdminAPI.App(topic: topic, name: topic.text, teamID: team, registrationCount: 0, pendingCount: 0)
    }

    private func key(_ team: String, revokedAt: Timestamp? = nil) -> CredentialAPI.Key {
        CredentialAPI.Key(keyID: "K", teamID: team, topics: nil, createdAt: .unixEpoch, revokedAt: revokedAt)
    }

    @Test func `the default team is first, and revoked keys do not count`() throws {
        let teams = TeamCommands.teams(
            of: [app("a", "TEAM000002"), app("b", "TEAM000003"), app("c", "TEAM000002")],
            [key("TEAM000002"), key("TEAM000001", revokedAt: .unixEpoch), key("TEAM000002", revokedAt: .unixEpoch)],
            defaultTeamID: "TEAM000003")
        let report = TeamCommands.report(of: teams)
        #expect(
            report.text == """
                TEAM ID     APPS  KEYS
                TEAM000003     1     0  default
                TEAM000001     0     0
                TEAM000002     2     1
                """)
        let first = #"{"app_count":1,"default":true,"key_count":0,"team_id":"TEAM000003"}"#
        #expect(try report.jsonText.hasPrefix(#"{"teams":[\#(first),"#))
    }

    @Test func `a server without apps and keys has its default team`() {
        let teams = TeamCommands.teams(of: [], [], defaultTeamID: "TEAM000003")
        #expect(teams.map(\.teamID) == ["TEAM000003"] && teams[0].isDefault)
    }

    @Test func `codes are listed by ID`() throws {
        let code = CredentialAPI.UnusedCode(
            id: "00ff12ab", createdAt: Timestamp(unixSeconds: 1_795_209_309),
            expiresAt: Timestamp(unixSeconds: 1_795_295_709))
        let report = CodeCommands.report(of: CredentialAPI.UnusedCodes(codes: [code]))
        let lines = report.text.split(separator: "\n")
        #expect(lines[0].hasPrefix("ID        CREATED ") && lines[0].hasSuffix("VALID UNTIL"))
        #expect(lines[1].hasPrefix("00ff12ab  2026-11-2"))
        let json = #"{"codes":[{"created_at":1795209309,"expires_at":1795295709,"id":"00ff12ab"}]}"#
        #expect(try report.jsonText == json)
        #expect(CodeCommands.report(of: CredentialAPI.UnusedCodes(codes: [])).text.contains("posthorn enrol"))
    }

    @Test func `a code in the place of its ID is refused before the server is asked`() throws {
        let run = try #require(AdminProgram.root.find(["code", "revoke"]))
        let invocation = try typed(["code", "rm", "ABCD-EFGH-JKMN", "--yes"])
        let error = #expect(throws: CommandError.self) { try run(invocation, .empty) }
        #expect(error?.exitCode == .usage && error?.problem.contains("specify its ID") == true)
    }

    @Test func `a new code is printed with its ID`() {
        let code = CredentialAPI.EnrolmentCode(
            code: "ABCD-EFGH", expiresAt: .unixEpoch, serverURL: "https://a", caFile: nil, id: "00ff12ab")
        #expect(EnrolCommand.report(of: code).text.hasPrefix("Code         ABCD-EFGH\nID           00ff12ab\n"))
    }
}
