// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
@testable import PosthornCLI
internal import PushAPI
internal import PushCore
internal import TestSupport
internal import Testing

struct LocalMessageTests {
    private func error(_ words: [String]) throws -> CommandError? {
        let invocation = try typed(["send"] + words)
        return thrown { () throws(CommandError) in _ = try LocalMessage(invocation) }
    }

    @Test(arguments: [
        (["a", ""], "nothing to send"), (["a", "--title", ""], "nothing to send"), (["a"], "nothing to send"),
        (["a", "x", "--device", "zz"], "invalid value 'zz' for --device: use an ID from 'posthorn device list'"),
        (
            ["a", "x", "--device", "00112233445566ff", "--channel", "x"],
            "--device and --channel cannot be combined"
        ),
        (["a", "x", "--channel", "zz"], "--channel must be a channel ID. See 'posthorn channel list'"),
        (["a", "x", "--url", "mail"], "--url: it is not a complete URL of printable ASCII characters"),
        (["a", "x", "--collapse-id", ""], "--collapse-id must have 1 to 64 bytes"),
        (["a", "x", "--topic", "b"], "--topic cannot be combined with the argument TOPIC ('a')"),
    ])
    func `a mistake is reported before any request, in words of the command line`(
        words: [String], problem: String
    ) throws {
        let error = try error(words)
        #expect(error?.problem == problem && error?.exitCode == .usage)
    }

    @Test func `a level that does not exist is refused with the accepted ones`() {
        guard case .failure(let error) = AdminProgram.root.command.parse(["send", "a", "x", "--level", "activ"]) else {
            Issue.record("--level activ was accepted")
            return
        }
        #expect(error.message == "invalid value 'activ' for --level: choose passive, active or time-sensitive")
        #expect(error.remedy.hasPrefix("Did you mean 'active'?"))
    }

    @Test(arguments: [
        (
            "PayloadTooLarge", "The notification has 5047 bytes; at most 4096 are possible. Shorten the text.",
            "the notification has 5047 bytes; at most 4096 are possible", "Shorten the text."
        ),
        ("PayloadEmpty", "There is nothing to show.", "there is nothing to show", ""),
        (
            "PayloadEmpty", "E L-P01 aps: Nothing to show.",
            "the payload has an error, and the checks of app 'a.b' are strict",
            "Correct the payload: E L-P01 aps: Nothing to show."
        ),
        (
            "FeatureNotEnabled", "Detail.", "app 'a.b' does not allow broadcasts",
            "Allow them with 'posthorn app set a.b --broadcasts on'."
        ),
        (
            "ChannelNotRegistered", "Detail.",
            "app 'a.b' does not have this channel; see 'posthorn channel list a.b'", ""
        ),
        ("ServiceUnavailable", "Try again later.", "the server refused: ServiceUnavailable (400)", "Try again later."),
        (
            "ServiceUnavailable", RejectionReason.serviceUnavailable.advice,
            "the server could not store the notification in time",
            "Try again later. If the store is in PostgreSQL, 'posthorn cluster status' shows the problem."
        ),
    ])
    func `a refusal of the server says what to change`(
        word: String, detail: String, problem: String, remedy: String
    ) throws {
        let message = try LocalMessage(typed("send", "a.b", "Hello."))
        let error = message.explained(.adminRefused(status: 400, DeviceAPI.Failure(error: word, detail: detail)))
        #expect(error.problem == problem && error.remedy == remedy && error.exitCode == .refused)
    }

    @Test func `send without a destination asks for the topic`() throws {
        let run = try #require(AdminProgram.root.find(["send"]))
        let invocation = try typed("send", "--body", "x")
        let error = thrown { () throws(CommandError) in _ = try run(invocation, .empty) }
        #expect(error?.problem == "missing argument: TOPIC")
        #expect(error?.remedy.hasPrefix("Use: posthorn send TOPIC TEXT.") == true)
    }

    @Test func `an empty file of a payload is named`() throws {
        let files = try TemporaryDirectory()
        let path = try files.write("", to: "empty.json")
        #expect(try error(["a", "--payload", path])?.problem.hasPrefix("\(path): not a JSON object") == true)
        #expect(LocalFile.name(of: "-") == "standard input" && LocalFile.name(of: path) == path)
    }

    @Test(arguments: [
        ("https://localhost:2197", true), ("localhost:2197", true), ("127.0.0.1:2197", true), ("[::1]:2197", true),
        ("https://PUSH.example.org:2197/", true), ("https://localhost", false), ("localhost:2198", false),
        ("other.example.org:2197", false), ("", false),
    ])
    func `the local server's CA is for its name and for localhost, on its port`(server: String, isLocal: Bool) {
        #expect(NotificationRequest.isSame(server, as: "https://push.example.org:2197") == isLocal)
    }
}
