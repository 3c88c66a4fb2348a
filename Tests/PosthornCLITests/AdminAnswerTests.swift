// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc
@testable import PosthornCLI
internal import PushAPI
internal import PushCore
internal import TestSupport
internal import Testing

struct AdminAnswerTests {
    private func failure(_ status: Int, _ body: String) -> CommandError? {
        thrown { () throws(CommandError) in
            try AdminAnswer.check(AdminAnswer(status: status, body: Array(body.utf8)))
        }
    }

    @Test(arguments: [
        (400, ExitCode.refused), (401, .notPermitted), (403, .notPermitted), (404, .notFound), (409, .refused),
        (410, .notFound), (429, .tryLater), (500, .refused), (503, .tryLater), (300, .refused), (199, .refused),
    ])
    func `a refusal maps to the exit code of its status`(status: Int, code: ExitCode) throws {
        let error = try #require(failure(status, #"{"error":"app_exists","detail":"Choose another topic."}"#))
        #expect(error.exitCode == code)
        #expect(error.problem == "the server refused: app_exists (\(status))")
        #expect(error.remedy == "Choose another topic.")
    }

    @Test(arguments: [200, 201, 204, 299])
    func `a success status is not a refusal`(status: Int) {
        #expect(failure(status, "") == nil)
    }

    @Test(arguments: ["", "oops", "{}", "[]"])
    func `a refusal without a reason still says where to look`(body: String) throws {
        #expect(try #require(failure(500, body)).remedy.contains("journalctl"))
    }

    @Test func `an answer's snake case members are decoded`() throws {
        let json =
            #"{"topic":"a","name":"A","team_id":"T","registration_count":2,"pending_count":3,"#
            + #""checks":"off","broadcasts":true,"new_field":1}"#
        let app = try AdminAnswer.decode(AdminAPI.App.self, from: AdminAnswer(status: 200, body: Array(json.utf8)))
        #expect(app.teamID == "T" && app.registrationCount == 2 && app.pendingCount == 3)
    }

    @Test(arguments: [
        (["org.example.Mial"], "no app with topic 'org.example.Mial'. Did you mean 'org.example.Mail'?"),
        (
            ["org.example.Mail", "org.example.chat"],
            "no app with topic 'org.example.chat'. Did you mean 'org.example.Chat'?"
        ), (["org.nope"], "no app with topic 'org.nope'; see 'posthorn app list'"),
    ])
    func `an unknown topic is answered with the closest known one`(typed: [TopicName], problem: String) throws {
        let refusal = try #require(failure(404, #"{"error":"UnknownTopic","detail":"Add it."}"#))
        let known: [TopicName] = ["org.example.Mail", "org.example.Chat"]
        let advised = refusal.advised(topics: typed, known: known)
        #expect(advised.problem == problem && advised.remedy == "")
        #expect(advised.exitCode == .notFound)
    }

    @Test(arguments: [([], ["a"]), (["a"], ["a"])])
    func `a refusal for another reason keeps the server's text`(typed: [TopicName], known: [TopicName]) throws {
        let refusal = try #require(failure(404, #"{"error":"UnknownTopic","detail":"Add it."}"#))
        #expect(refusal.advised(topics: typed, known: known).remedy == "Add it.")
    }

    @Test(arguments: [
        ("UnknownTopic", AdminRequest.get("apps", "org.nope"), "no app with topic 'org.nope'; see 'posthorn app list'"),
        ("UnknownTopic", .delete("quotas", "topic", "a b"), "no app with topic 'a b'; see 'posthorn app list'"),
        ("UnknownDevice", .delete("devices", "00ff"), "no device with ID '00ff'; see 'posthorn device list'"),
        (
            "UnknownDevice", .delete("policies", "00ff", "*", "x"),
            "no device with ID '00ff'; see 'posthorn device list'"
        ),
        ("UnknownKey", .delete("keys", "ABC"), "no key with ID 'ABC'; see 'posthorn key list'"),
        ("UnknownToken", .delete("send-tokens", "zz"), "no token with ID 'zz'; see 'posthorn token list'"),
        ("UnknownTeam", .get("quotas", "team", "T"), "no team 'T'; see 'posthorn team list'"),
        ("UnknownCode", .delete("enrolment-codes", "00ff"), "no unused code with ID '00ff'; see 'posthorn code list'"),
        (
            "UnknownChannel", .get("apps", "a", "channels", "c"),
            "app 'a' has no channel 'c'; see 'posthorn channel list a'"
        ), ("AlreadyExists", .post("apps", AdminAPI.NewApp(topic: "a.b")), "app 'a.b' already exists"),
        ("BackupNotMade", .post("backups"), "cannot create /b: permission denied for the server's user"),
        ("NoChange", .get("apps", "a"), "the server refused: NoChange (404)"),
        ("UnknownTopic", .post("keys"), "the server refused: UnknownTopic (404)"),
    ])
    func `a refusal names what the request was about`(word: String, request: AdminRequest, problem: String) throws {
        let detail = "Cannot create /b: permission denied for the server's user."
        let refusal = try #require(failure(404, #"{"error":"\#(word)","detail":"\#(detail)"}"#)).naming(request)
        #expect(refusal.problem == problem && refusal.exitCode == .notFound)
        #expect(refusal.remedy == (problem.hasPrefix("the server refused") ? detail : ""))
        #expect(refusal.json["detail"]?.hasSuffix(".") == true)
    }

    @Test func `an invalid value is explained without the name of the error`() throws {
        let refusal = try #require(failure(400, #"{"error":"BadTopic","detail":"Invalid topic: use letters."}"#))
        let named = refusal.naming(.post("apps", AdminAPI.NewApp(topic: "a b")))
        #expect(named.problem == "invalid topic: use letters" && named.remedy == "" && named.exitCode == .refused)
    }

    @Test(arguments: ["", "{}", "null", #"{"topic":"a"}"#, "\u{FF}"])
    func `an invalid response is reported as such`(body: String) {
        let error = thrown { () throws(CommandError) in
            _ = try AdminAnswer.decode(AdminAPI.App.self, from: AdminAnswer(status: 200, body: Array(body.utf8)))
        }
        #expect(error?.problem.hasPrefix("the server sent an invalid response") == true)
    }

    @Test func `a server that does not answer a request for its status is reported as such`() throws {
        let files = try TemporaryDirectory()
        let path = files.path(of: "silent.sock")
        let descriptor = try bindSocket(path)
        defer { close(descriptor) }
        try #require(listen(descriptor, 1) == 0)
        let client = AdminClient(sockets: [path], statusTimeout: .milliseconds(1))
        let error = thrown { () throws(CommandError) in try client.send(.get("status")) }
        #expect(error?.problem == "posthornd at \(path) does not answer")
        #expect(error?.remedy.contains("systemctl restart posthornd") == true && error?.exitCode == .unreachable)
    }

    @Test func `a client without a server reports the problem of each socket path`() throws {
        let files = try TemporaryDirectory()
        let stale = files.path(of: "stale.sock")
        try listenAndLeave(stale)
        let client = AdminClient(sockets: [files.path(of: "absent.sock"), stale])
        let error = thrown { () throws(CommandError) in try client.send(.get("status")) }
        #expect(error?.exitCode == .unreachable)
        #expect(
            error?.problem
                == "cannot connect to posthornd at \(files.path)/absent.sock: no such file; \(stale): connection refused. "
                + "Is it running?")
    }

    /// Creates a socket file and leaves it behind, as a killed server does.
    private func listenAndLeave(_ path: String) throws { close(try bindSocket(path)) }

    private func bindSocket(_ path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
        return descriptor
    }

    @Test func `a socket without permission is distinguished from a missing one`() {
        let attempts = [
            SocketAttempt(path: "/a", finding: .absent), SocketAttempt(path: "/b", finding: .noPermission),
        ]
        let error = CommandError.adminUnreachable(attempts)
        #expect(error.exitCode == .notPermitted)
        #expect(error.problem == "cannot connect to posthornd at /a: no such file; /b: permission denied.")
        #expect(error.remedy.contains("user of posthornd") && !error.remedy.contains("group"))
        #expect(CommandError.adminUnreachable([attempts[0]]).exitCode == .unreachable)
        #expect(CommandError.adminUnreachable([attempts[0]]).remedy.contains("--socket"))
    }
}
