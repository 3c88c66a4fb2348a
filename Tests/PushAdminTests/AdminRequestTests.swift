// SPDX-License-Identifier: Apache-2.0

internal import PushAdmin
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
    ])
    func `app add sends what was typed`(words: [String], request: String) throws {
        #expect(text(AppCommands.addRequest(try typed(["app", "add"] + words))) == request)
    }

    @Test(arguments: [
        ([], "POST /v1/keys {}"), (["-t", "a"], #"POST /v1/keys {"topics":["a"]}"#),
        (["-t", "a", "--topic=b", "--team", "T"], #"POST /v1/keys {"team_id":"T","topics":["a","b"]}"#),
    ])
    func `key create sends topics only when some were named`(words: [String], request: String) throws {
        #expect(text(KeyCommands.createRequest(try typed(["key", "create"] + words))) == request)
    }

    @Test(arguments: [
        ("org.example.Mail-2_x~", "org.example.Mail-2_x~"), ("a/b", "a%2Fb"), ("a?b#c%", "a%3Fb%23c%25"),
        ("..", "%2E%2E"), (".", "%2E"), ("ä b", "%C3%A4%20b"), ("", ""), ("a\r\nx: y", "a%0D%0Ax%3A%20y"),
    ])
    func `what is named becomes one segment of the path`(name: String, segment: String) {
        #expect(AdminRequest.get("apps", name).path == "/v1/apps/\(segment)")
        #expect(AdminRequest.delete("apps", name).method == "DELETE")
    }

    @Test func `an enrolment code is asked for without a body`() {
        #expect(text(.post("enrolment-codes")) == "POST /v1/enrolment-codes")
    }
}
