// SPDX-License-Identifier: Apache-2.0

internal import PushAdmin
internal import PushDBus
internal import Testing

struct AgentAnswerTests {
    @Test(arguments: [
        ("org.posthorn.Error.UnknownApp", ExitCode.notFound), ("org.posthorn.Error.UnknownTopic", .notFound),
        ("org.posthorn.Error.UnknownEntry", .notFound), ("org.posthorn.Error.Unreachable", .unreachable),
        ("org.posthorn.Error.NotEnrolled", .refused), ("org.posthorn.Error.AlreadyEnrolled", .refused),
        ("org.posthorn.Error.BadServer", .refused), ("org.posthorn.Error.NotTrusted", .unreachable),
        ("org.posthorn.Error.BadEnrolmentCode", .refused), ("org.posthorn.Error.BadAppID", .refused),
        ("org.posthorn.Error.UnknownChannel", .notFound), ("org.posthorn.Error.TooMany", .refused),
        ("org.posthorn.Error.BadChannelID", .refused), ("org.posthorn.Error.BadEnvironment", .refused),
        ("org.posthorn.Error.UnknownSetting", .refused), ("org.posthorn.Error.Unheard", .refused),
        ("org.freedesktop.DBus.Error.AccessDenied", .notPermitted),
        ("org.freedesktop.DBus.Error.ServiceUnknown", .unreachable),
        ("org.freedesktop.DBus.Error.NameHasNoOwner", .unreachable),
        ("org.freedesktop.DBus.Error.NoReply", .unreachable),
        ("org.freedesktop.DBus.Error.Spawn.ChildExited", .unreachable), ("System.Error.ENOTCONN", .unreachable),
        ("org.freedesktop.DBus.Error.UnknownMethod", .refused), ("", .refused),
    ])
    func `a D-Bus error ends with the code of its meaning`(name: String, code: ExitCode) {
        let error = AgentAnswer.failure(BusError(name: name, message: "Because."))
        #expect(error.exitCode == code)
        #expect(error.problem.hasSuffix(": Because."))
        #expect(!error.remedy.isEmpty)
    }

    @Test func `an error without a text shows its name`() {
        let error = AgentAnswer.failure(BusError(name: "org.posthorn.Error.UnknownApp", message: ""))
        #expect(error.problem == "the agent refused: org.posthorn.Error.UnknownApp")
    }

    @Test func `every error of the agent has a remedy of its own`() {
        #expect(Set(AgentFailure.allCases.map(\.remedy)).count == AgentFailure.allCases.count)
    }

    @Test func `only commands that have the option name it`() {
        #expect(AgentFailure.allCases.allSatisfy { !$0.remedy.contains("--ca-file") })
        #expect(!AgentFailure.alreadyEnrolled.remedy.contains("the other server"))
    }

    @Test(arguments: [
        ("BadServer", "127.0.0.1:2197", "Write https:// in front."),
        ("BadServer", "http://a", AgentFailure.badServer.remedy),
        (
            "NotTrusted", "https://a",
            "Name the server's authority with --ca-file, and use a host name of its certificate."
        ), ("Unreachable", "https://a", AgentFailure.unreachable.remedy),
    ])
    func `what to do about an enrolment that failed`(name: String, server: String, remedy: String) {
        let failure = AgentAnswer.failure(BusError(name: "org.posthorn.Error.\(name)", message: "Because."))
        let advised = AgentCommands.advice(on: failure, server: server)
        #expect(advised.remedy == remedy)
        #expect(advised.problem == failure.problem && advised.exitCode == failure.exitCode)
    }

    @Test(arguments: [("Unreachable", true), ("NotTrusted", true), ("NotEnrolled", false)])
    func `who cannot tell the server is told of forgetting it`(name: String, isTold: Bool) {
        let failure = AgentAnswer.failure(BusError(name: "org.posthorn.Error.\(name)", message: "Because."))
        #expect(AgentCommands.adviceOnLeaving(failure).remedy.contains("agent unenrol --local") == isTold)
    }

    @Test func `a status says when the next try is`() {
        let waiting = AgentStatus(.dictionary([("next_try", .int64(1_800_000_000))]))
        #expect(AgentCommands.report(of: waiting).text.contains("Next try"))
        #expect(!AgentCommands.report(of: AgentStatus(.dictionary([]))).text.contains("Next try"))
    }

    @Test func `facts of another type or without a value read as empty`() throws {
        let status = AgentStatus(.dictionary([("version", .uint32(1)), ("enrolled", .string("yes"))]))
        #expect(
            try AgentCommands.report(of: status).jsonText
                == #"{"connected":false,"connected_since":0,"device_id":"","enrolled":false,"last_connected":0,"#
                + #""last_error":"","next_try":0,"notice":"","presenter":"","process_id":0,"server_url":"","version":""}"#
        )
        #expect(AgentCommands.report(of: AgentStatus(.string("?"))).text.contains("posthorn agent enrol"))
    }
}
