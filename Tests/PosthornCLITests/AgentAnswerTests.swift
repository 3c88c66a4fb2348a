// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
@testable import PosthornCLI
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
    func `a D-Bus error maps to its exit code`(name: String, code: ExitCode) {
        let error = AgentAnswer.failure(BusError(name: name, message: "Because."))
        #expect(error.exitCode == code)
        let endings = ["because", ": Because.", ": it is not running", ": it does not answer"]
        #expect(endings.contains { error.problem.hasSuffix($0) })
        #expect(!error.remedy.isEmpty)
    }

    @Test(arguments: [
        ("ServiceUnknown", "it is not running"), ("NameHasNoOwner", "it is not running"),
        ("NoReply", "it does not answer"), ("Spawn.ChildExited", "Because."),
    ])
    func `an agent that does not run is not described in the terms of D-Bus`(name: String, text: String) {
        let error = AgentAnswer.failure(BusError(name: "org.freedesktop.DBus.Error.\(name)", message: "Because."))
        #expect(error.problem == "cannot connect to posthorn-agent: \(text)")
        #expect(error.remedy == "Start it: systemctl --user start posthorn-agent")
    }

    @Test(arguments: [
        ("Entry 7 does not exist.", "entry 7 does not exist"), ("the server answered 500", "the server answered 500"),
        ("The code is incomplete. It has two parts.", "the code is incomplete. It has two parts."),
        ("TLS failed.", "posthorn-agent refused: TLS failed."),
    ])
    func `a sentence of the agent has the form of this program's own errors`(message: String, problem: String) {
        let error = AgentAnswer.failure(BusError(name: "org.posthorn.Error.Failed", message: message))
        #expect(error.problem == problem)
    }

    @Test func `an error without a text shows its name`() {
        let error = AgentAnswer.failure(BusError(name: "org.posthorn.Error.UnknownApp", message: ""))
        #expect(error.problem == "posthorn-agent refused: org.posthorn.Error.UnknownApp")
    }

    @Test func `every error of the agent has a remedy of its own`() {
        let others: [AgentErrorCode] = [.refused, .badTopic, .invalidArguments, .failed]
        let codes = AgentErrorCode.allCases.filter { !others.contains($0) }
        let remedies = codes.map(\.remedy) + [AgentFailure.accessDenied.remedy, AgentFailure.other.remedy]
        #expect(Set(remedies).count == remedies.count)
        #expect(others.allSatisfy { $0.remedy == AgentFailure.other.remedy })
    }

    @Test func `remedies do not mention options that the command lacks`() {
        #expect(AgentErrorCode.allCases.allSatisfy { !$0.remedy.contains("--ca-file") })
        #expect(!AgentErrorCode.alreadyEnrolled.remedy.contains("the other server"))
    }

    @Test(arguments: [
        ("BadServer", "127.0.0.1:2197", "Add https:// before the host name."),
        ("BadServer", "http://a", AgentErrorCode.badServer.remedy),
        (
            "NotTrusted", "https://a",
            "Copy the complete code that 'posthorn enrol' printed, or specify the CA with --ca-file, and use a host name "
                + "that the certificate contains."
        ), ("Unreachable", "https://a", AgentErrorCode.unreachable.remedy),
    ])
    func `a failed enrolment has a remedy for its cause`(name: String, server: String, remedy: String) {
        let failure = AgentAnswer.failure(BusError(name: "org.posthorn.Error.\(name)", message: "Because."))
        let advised = AgentCommands.advice(on: failure, server: server)
        #expect(advised.remedy == remedy)
        #expect(advised.problem == failure.problem && advised.exitCode == failure.exitCode)
    }

    @Test(arguments: [("Unreachable", true), ("NotTrusted", true), ("NotEnrolled", false)])
    func `unenrol suggests the local option when the server cannot be reached`(name: String, isTold: Bool) {
        let failure = AgentAnswer.failure(BusError(name: "org.posthorn.Error.\(name)", message: "Because."))
        #expect(AgentCommands.adviceOnLeaving(failure).remedy.contains("agent unenrol --local") == isTold)
    }

    @Test func `unenrol without an enrolment has nothing to leave`() {
        let failure = AgentAnswer.failure(BusError(name: "org.posthorn.Error.NotEnrolled", message: "Because."))
        #expect(AgentCommands.adviceOnLeaving(failure).problem == "this device is not enrolled")
    }

    @Test(
        arguments: [
            (["https://a:1", "K7QM-2XHD-9FPT"], nil), (["https://a:1"], nil), (["a:1", "K7QM-2XHD-9FPT"], nil),
            (["push.example.org"], nil),
            (["K7QM-2XHD-9FPT", "https://a:1"], "posthorn agent enrol https://a:1 K7QM-2XHD-9FPT"),
            (["k7qm2xhd9fpt"], "posthorn agent enrol https://HOST:PORT k7qm2xhd9fpt"),
        ] as [([String], String?)])
    func `an enrolment code in the place of the server is recognized`(words: [String], remedy: String?) throws {
        let invocation = try typed(["agent", "enrol"] + words)
        let error = thrown { () throws(CommandError) in try AgentCommands.checkOrder(invocation) }
        #expect(error?.remedy == remedy.map { "Use: \($0)" })
        #expect(error == nil || error?.exitCode == .usage)
    }

    @Test(arguments: ["", "ABC", "K7QM-2XHD", "K7QM-2XHD-9FPT-K7QM", "K7QM-2XHD-9FP!"])
    func `an incomplete enrolment code is refused with its form`(code: String) throws {
        let invocation = try typed(["agent", "enrol", "https://a:1", code])
        let error = thrown { () throws(CommandError) in try AgentCommands.checkOrder(invocation) }
        #expect(error?.problem.hasSuffix("use three or nine groups of four characters, such as K7QM-2XHD-9FPT") == true)
        #expect(error?.exitCode == .usage)
    }

    @Test func `a device that the server removed gets one remedy that works`() {
        let facts: [(String, BusValue)] = [("enrolled", .bool(true)), ("removed", .bool(true))]
        let text = AgentCommands.report(of: StatusRecord(.dictionary(facts))).text
        #expect(text.contains("no longer; the device was removed from the server. Run 'posthorn agent unenrol'.\n"))
        let failure = AgentAnswer.failure(BusError(name: "org.posthorn.Error.DeviceRemoved", message: "Because."))
        #expect(failure.remedy.contains("'posthorn agent unenrol', then enrol again: posthorn agent enrol"))
    }

    @Test(
        arguments: [
            (nil, "systemctl --user start posthorn-agent"), ("system", "systemctl start posthorn-agent-system"),
            ("unix:path=/b", "POSTHORN_AGENT_BUS=unix:path=/b posthorn-agent"),
        ] as [(String?, String)])
    func `an agent that does not run is started on its bus`(value: String?, command: String) {
        let error = BusError(name: "org.freedesktop.DBus.Error.ServiceUnknown", message: "Because.")
        #expect(AgentAnswer.failure(error, busValue: value).remedy.contains(command))
    }

    @Test func `a status shows the next attempt to connect`() {
        let waiting = StatusRecord(.dictionary([("next_try", .int64(1_800_000_000))]))
        #expect(AgentCommands.report(of: waiting).text.contains("Next retry"))
        #expect(!AgentCommands.report(of: StatusRecord(.dictionary([]))).text.contains("Next retry"))
    }

    @Test(arguments: [
        ("", false), ("none", false), ("desktop", true), ("desktop, panel", true), ("hooks: any", true),
    ])
    func `a status shows when nothing displays alerts`(presenter: String, isThere: Bool) {
        let text = AgentCommands.report(of: StatusRecord(.dictionary([("presenter", .string(presenter))]))).text
        #expect(text.contains("no notification server is running") != isThere, "\(text)")
        #expect(!isThere || text.hasSuffix("Alerts shown by  \(presenter)"), "\(text)")
    }

    @Test func `a status shows which alerts a panel alone displays`() {
        let text = AgentCommands.report(of: StatusRecord(.dictionary([("presenter", .string("panel"))]))).text
        #expect(text.contains("the panel, which shows only alerts of style 'alert'. No notification server is running"))
    }

    @Test func `values that are missing or of another type read as empty`() throws {
        let status = StatusRecord(.dictionary([("version", .uint32(1)), ("enrolled", .string("yes"))]))
        #expect(
            try AgentCommands.report(of: status).jsonText
                == #"{"connected":false,"connected_since":0,"device_id":"","enrolled":false,"last_connected":0,"#
                + #""last_error":"","next_try":0,"notice":"","presenter":"","problem":"","process_id":0,"#
                + #""removed":false,"server_url":"","version":""}"#
        )
        #expect(AgentCommands.report(of: StatusRecord(.string("?"))).text.contains("posthorn agent enrol"))
    }
}
