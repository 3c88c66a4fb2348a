// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
@testable import PosthornCLI
internal import PushCore
internal import Testing

struct AdminRequestTests {
    private func text(_ request: AdminRequest) -> String {
        let body = String(decoding: request.body, as: UTF8.self)
        return "\(request.method) \(request.path)" + (body.isEmpty ? "" : " \(body)")
    }

    @Test(arguments: [
        (["org.example.Mail"], #"POST /v1/apps {"topic":"org.example.Mail"}"#),
        (["a", "--name", "M \"x\""], #"POST /v1/apps {"name":"M \"x\"","topic":"a"}"#),
        (["a", "--name=", "--team", "TEAM123456"], #"POST /v1/apps {"name":"","team_id":"TEAM123456","topic":"a"}"#),
        (["a", "--checks", "off"], #"POST /v1/apps {"checks":"off","topic":"a"}"#),
        (["a", "--broadcasts", "on"], #"POST /v1/apps {"broadcasts":true,"topic":"a"}"#),
        (["a", "--broadcasts=off"], #"POST /v1/apps {"broadcasts":false,"topic":"a"}"#),
    ])
    func `app add sends its options`(words: [String], request: String) throws {
        #expect(text(AppCommands.addRequest(try typed(["app", "add"] + words))) == request)
    }

    @Test(arguments: [
        (["a", "--name", "M"], #"PATCH /v1/apps/a {"name":"M"}"#),
        (
            ["a/b", "--checks", "strict", "--broadcasts", "off"],
            #"PATCH /v1/apps/a%2Fb {"broadcasts":false,"checks":"strict"}"#
        ),
        (["a", "--name="], #"PATCH /v1/apps/a {"name":""}"#),
    ])
    func `app set sends only the changes`(words: [String], request: String) throws {
        #expect(text(try AppCommands.changeRequest(typed(["app", "set"] + words))) == request)
    }

    @Test func `app set without a change lists the possible changes`() throws {
        let invocation = try typed("app", "set", "a", "--yes")
        let error = thrown { () throws(CommandError) in _ = try AppCommands.changeRequest(invocation) }
        #expect(error?.exitCode == .usage)
        #expect(error?.remedy == "Specify --name, --checks, --broadcasts, --webhook or --no-webhook.")
    }

    @Test(arguments: [
        ["app", "set", "a", "--checks", "loose"], ["app", "add", "a", "--broadcasts", "yes"],
        ["key", "create", "--environment", "sandbox"], ["channel", "create", "a", "--policy", "all"],
        ["channel", "create", "a", "-e", "Production"], ["channel", "list", "a", "-e", ""],
    ])
    func `an invalid choice is refused with the valid ones`(words: [String]) throws {
        guard case .failure(let error) = AdminProgram.root.command.parse(words) else {
            Issue.record("taken: \(words)")
            return
        }
        #expect(error.message.contains(": choose "), "\(error.message)")
    }

    @Test(arguments: [
        ([], "POST /v1/apps/a%2Fb/channels {}"),
        (["--policy", "none"], #"POST /v1/apps/a%2Fb/channels {"message_storage_policy":0}"#),
        (
            ["--policy=last", "-e", "development"],
            #"POST /v1/apps/a%2Fb/channels {"environment":"development","message_storage_policy":1}"#
        ),
    ])
    func `channel create sends its options`(words: [String], request: String) throws {
        #expect(text(ChannelCommands.createRequest(try typed(["channel", "create", "a/b"] + words))) == request)
    }

    @Test func `an environment becomes the request's parameter`() {
        let request = AdminRequest.get("apps", "a", "channels")
        #expect(text(request.of(environment: nil)) == "GET /v1/apps/a/channels")
        #expect(text(request.of(environment: "a&b=c")) == "GET /v1/apps/a/channels?environment=a%26b%3Dc")
    }

    @Test(arguments: [
        ([], "POST /v1/keys {}"), (["-e", "production"], #"POST /v1/keys {"environment":"production"}"#),
        (["-t", "a"], #"POST /v1/keys {"topics":["a"]}"#),
        (["-t", "a", "--topic=b", "--team", "T"], #"POST /v1/keys {"team_id":"T","topics":["a","b"]}"#),
    ])
    func `key create sends topics only when some were named`(words: [String], request: String) throws {
        #expect(text(KeyCommands.createRequest(try typed(["key", "create"] + words))) == request)
    }

    @Test(arguments: [
        ("org.example.Mail-2_x~", "org.example.Mail-2_x~"), ("a/b", "a%2Fb"), ("a?b#c%", "a%3Fb%23c%25"),
        ("..", "%2E%2E"), (".", "%2E"), ("ä b", "%C3%A4%20b"), ("", ""), ("a\r\nx: y", "a%0D%0Ax%3A%20y"),
    ])
    func `a name becomes one segment of the path`(name: String, segment: String) {
        #expect(AdminRequest.get("apps", name).path == "/v1/apps/\(segment)")
        #expect(AdminRequest.delete("apps", name).method == "DELETE")
    }

    @Test func `an enrolment code is requested without a body`() {
        #expect(text(.post("enrolment-codes")) == "POST /v1/enrolment-codes")
    }

    @Test(
        arguments: [
            (["sound", "off", "--lock"], #"PUT /v1/policies/%2A/%2A/sound {"locked":true,"value":"off"}"#, nil),
            (["sound", "loud"], nil, "invalid value 'loud' for sound: use on or off"),
            (
                ["inbox-days", "0", "-d", "00ff"], nil,
                "invalid value '0' for inbox-days: use a number from 1 to 3650"
            ),
        ] as [([String], String?, String?)])
    func `a policy has a value that its setting accepts`(words: [String], request: String?, problem: String?) throws {
        let invocation = try typed(["policy", "set"] + words)
        var made: AdminRequest?
        let error = thrown { () throws(CommandError) in made = try PolicyCommands.setRequest(invocation) }
        #expect(made.map { "\($0.method) \($0.path) \(String(decoding: $0.body, as: UTF8.self))" } == request)
        #expect(error?.problem == problem && (error == nil || error?.exitCode == .usage))
    }
}
