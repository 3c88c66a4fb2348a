// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc
internal import PushAdmin
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
    func `a refusal ends with the code of its status`(status: Int, code: ExitCode) throws {
        let error = try #require(failure(status, #"{"error":"app_exists","detail":"Choose another topic."}"#))
        #expect(error.exitCode == code)
        #expect(error.problem == "the server refused: app_exists (\(status))")
        #expect(error.remedy == "Choose another topic.")
    }

    @Test(arguments: [200, 201, 204, 299])
    func `a success is no refusal`(status: Int) {
        #expect(failure(status, "") == nil)
    }

    @Test(arguments: ["", "oops", "{}", "[]"])
    func `a refusal without a reason still says where to look`(body: String) throws {
        #expect(try #require(failure(500, body)).remedy.contains("journalctl"))
    }

    @Test func `an answer is read by its snake case names`() throws {
        let json =
            #"{"topic":"a","name":"A","team_id":"T","registration_count":2,"pending_count":3,"#
            + #""checks":"off","broadcasts":true,"new_field":1}"#
        let app = try AdminAnswer.decode(AdminAPI.App.self, from: AdminAnswer(status: 200, body: Array(json.utf8)))
        #expect(app.teamID == "T" && app.registrationCount == 2 && app.pendingCount == 3)
    }

    @Test(arguments: [
        (["org.example.Mial"], "No app has the topic org.example.Mial. Did you mean org.example.Mail? "),
        (
            ["org.example.Mail", "org.example.chat"],
            "No app has the topic org.example.chat. Did you mean org.example.Chat? "
        ),
    ])
    func `an unknown topic is answered with the one that was meant`(typed: [String], remedy: String) throws {
        let refusal = try #require(failure(404, #"{"error":"UnknownTopic","detail":"Add it."}"#))
        let known = ["org.example.Mail", "org.example.Chat"]
        let advised = refusal.advised(topics: typed, known: known)
        #expect(advised.remedy == remedy + "'posthorn app list' shows all.")
        #expect(advised.exitCode == .notFound && advised.problem == refusal.problem)
    }

    @Test(arguments: [(["com.else.where"], ["org.example.Mail"]), (["a"], []), ([], ["a"]), (["a"], ["a"])])
    func `a topic that is like no other leaves the server's words`(typed: [String], known: [String]) throws {
        let refusal = try #require(failure(404, #"{"error":"UnknownTopic","detail":"Add it."}"#))
        #expect(refusal.advised(topics: typed, known: known).remedy == "Add it.")
    }

    @Test(arguments: ["", "{}", "null", #"{"topic":"a"}"#, "\u{FF}"])
    func `an answer that makes no sense is said to be one`(body: String) {
        let error = thrown { () throws(CommandError) in
            _ = try AdminAnswer.decode(AdminAPI.App.self, from: AdminAnswer(status: 200, body: Array(body.utf8)))
        }
        #expect(error?.problem.hasPrefix("the server gave an answer that makes no sense") == true)
    }

    @Test func `a client that finds nobody says what it found at each path`() throws {
        let files = try TemporaryDirectory()
        let stale = files.path(of: "stale.sock")
        try listenAndLeave(stale)
        let client = AdminClient(sockets: [files.path(of: "absent.sock"), stale])
        let error = thrown { () throws(CommandError) in try client.send(.get("status")) }
        #expect(error?.exitCode == .unreachable)
        #expect(
            error?.problem
                == "no server answers on \(files.path)/absent.sock (not there), \(stale) (nobody listens)")
    }

    /// Leaves the socket of a server that was killed.
    private func listenAndLeave(_ path: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0)
    }

    @Test func `a socket without permission is told apart from one that is not there`() {
        let attempts = [
            SocketAttempt(path: "/a", finding: .absent), SocketAttempt(path: "/b", finding: .noPermission),
        ]
        let error = CommandError.adminUnreachable(attempts)
        #expect(error.exitCode == .notPermitted)
        #expect(error.problem == "no server answers on /a (not there), /b (no permission)")
        #expect(error.remedy.contains("user of posthornd") && !error.remedy.contains("group"))
        #expect(CommandError.adminUnreachable([attempts[0]]).exitCode == .unreachable)
        #expect(CommandError.adminUnreachable([attempts[0]]).remedy.contains("--socket"))
    }
}
