// SPDX-License-Identifier: Apache-2.0

internal import PayloadLint
@testable import PosthornCLI
internal import PushTLS
internal import TestSupport
internal import Testing

struct LintTests {
    private func lint(_ words: [String], environment: [String: String] = [:]) throws -> Report {
        let run = try #require(AdminProgram.root.find(["lint"]))
        return try run(try typed(["lint"] + words), CommandContext(environment: environment, isRoot: false))
    }

    @Test func `each finding is a line, and a last line counts them`() throws {
        let files = try TemporaryDirectory()
        let wrong = try files.write(
            #"{"aps":{"alert":{"title":"Your Backup Failed","body":"You lost it."},"badge":"3"}}"#, to: "wrong.json")
        let good = try files.write(#"{"aps":{"alert":"Kim finished the report."}}"#, to: "good.json")
        let report = try lint([wrong, good])
        #expect(
            report.text == """
                \(wrong): E L-G01 aps.badge: aps.badge is a string. A badge is a whole number, 0 or more, without \
                quotes.
                \(wrong): W L-T06 aps.alert.title: Avoid you, your, I and my in a title: they can be ambiguous or \
                offensive.
                \(wrong): I L-M06 aps.alert.body: Avoid you, your, I and my in alert text where possible.
                2 payloads: 1 error, 1 warning, 1 piece of advice
                """)
        #expect(report.exitCode == .refused)
        #expect(report.complaint == nil)
    }

    @Test(arguments: [
        (#"{"aps":{"badge":3}}"#, [], ExitCode.ok, "1 payload: no problems found"),
        (#"{"aps":{"badge":3}}"#, ["--strict"], .ok, "1 payload: no problems found"),
        (#"{"aps":{"alert":"Hi there"}}"#, [], .ok, "1 payload: 1 warning"),
        (#"{"aps":{"alert":"Hi there"}}"#, ["--strict"], .refused, "1 payload: 1 warning"),
        (#"{"aps":{"sound":"a"}}"#, ["--strict"], .ok, "1 payload: 1 piece of advice"),
        (#"{"aps":{"badge":-1}}"#, [], .refused, "1 payload: 1 error"), ("{}", [], .refused, "1 payload: 1 error"),
        ("{}", ["--push-type", "background"], .ok, "1 payload: no problems found"),
        (
            #"{"aps":{"alert":"Mail has come."}}"#, ["--app-name", "Mail", "--strict"], .ok,
            "1 payload: 1 piece of advice"
        ),
        (#"{"aps":{"alert":"Mail has come."}}"#, ["--app-name", "Post"], .ok, "1 payload: no problems found"),
    ])
    func `errors, and warnings with --strict, exit with 1`(
        payload: String, words: [String], exitCode: ExitCode, summary: String
    ) throws {
        let files = try TemporaryDirectory()
        let report = try lint(words + [try files.write(payload, to: "payload.json")])
        #expect(report.exitCode == exitCode)
        #expect(report.text.split(separator: "\n").last.map(String.init) == summary)
    }

    @Test(arguments: [
        (
            #"{"aps":{"alert":Hi}}"#, "in aps.alert: a string needs double quotes",
            ["  {\"aps\":{\"alert\":Hi}}", "                  ^"]
        ),
        ("{\n  \"備份\": 1\n  \"b\": 2\n}", "line 3, column 3", ["    \"b\": 2", "    ^"]),
        (#"{"備份":x}"#, "line 1, column 7", [#"  {"備份":x}"#, "          ^"]),
        ("{\"a\":\"\u{1B}[31m\"}", "control character in a string", ["  {\"a\":\"\"}", "        ^"]),
        ("", "the payload is empty", ["  ", "  ^"]),
        (
            #"{"aps":{"alert":"\#(String(repeating: "0123456789", count: 9)) "x"}}"#, "closing quote is missing",
            [
                "  …789012345678901234567890123456789 \"x\"}}",
                "                                      ^",
            ]
        ),
    ])
    func `a payload that is not JSON shows the error's place`(payload: String, problem: String, lines: [String]) throws
    {
        let files = try TemporaryDirectory()
        let report = try lint([try files.write(payload, to: "payload.json")])
        let shown = report.text.split(separator: "\n").map(String.init)
        #expect(
            shown.count == 4 && shown[0].contains(" E L-K01: byte ") && shown[0].contains(problem), "\(report.text)")
        #expect(Array(shown[1...2]) == lines)
        #expect(report.exitCode == .refused)
    }

    @Test func `files form a history only with an interval`() throws {
        let files = try TemporaryDirectory()
        let path = try files.write(#"{"aps":{"alert":"Kim finished the report."}}"#, to: "payload.json")
        func checks(_ words: [String]) throws -> [String] {
            try lint(words).text.split(separator: "\n").dropLast().compactMap {
                $0.split(separator: " ").first { $0.hasPrefix("L-") }.map(String.init)
            }
        }
        let five = Array(repeating: path, count: 5)
        #expect(try checks(five) == [])
        #expect(try checks(["--interval", "601"] + five) == ["L-P02"])
        #expect(try checks(["--interval", "600"] + five) == ["L-P03", "L-P03", "L-P03", "L-P02", "L-P03"])
        #expect(try checks(["--interval", "901"] + five) == [])
    }

    @Test func `the JSON has the findings and counts them`() throws {
        let files = try TemporaryDirectory()
        let path = try files.write(#"{"aps":{"badge":-1}}"#, to: "payload.json")
        #expect(
            try lint([path]).jsonText
                == #"{"advice":0,"errors":1,"files":[{"file":"\#(path)","findings":[{"check":"L-G01","#
                + #""path":"aps.badge","severity":"E","text":"aps.badge is negative. \#(PayloadCheck.badge.sentence)"}]}],"#
                + #""warnings":0}"#)
    }

    @Test func `the app's name comes from a server or from an option, not from both`() throws {
        let files = try TemporaryDirectory()
        let path = try files.write("{}", to: "payload.json")
        func failure(_ words: [String]) -> CommandError? {
            thrown { () throws(CommandError) in
                guard let run = AdminProgram.root.find(["lint"]), let words = try? typed(["lint"] + words) else {
                    return
                }
                _ = try run(words, .empty)
            }
        }
        #expect(failure(["--topic", "t", "--app-name", "n", path])?.exitCode == .usage)
        #expect(failure(["--topic", "t", "--socket", "\(files.path)/none", path])?.exitCode == .unreachable)
        #expect(failure(["\(files.path)/none"])?.exitCode == .notFound)
        #expect(failure(["--interval", "soon", path])?.exitCode == .usage)
    }

    /// Returns the error of `send` for a server on which no process listens.
    private func sendFailure(_ words: [String]) throws -> CommandError? {
        let files = try TemporaryDirectory()
        let key = try files.write(String(decoding: try PrivateKey().pem, as: UTF8.self), to: "AuthKey_ABC1234567.p8")
        let run = try #require(AdminProgram.root.find(["send"]))
        let invocation = try typed(
            ["send", "-k", key, "--server", "https://127.0.0.1:1", "--team-id", "TEAM123456", "-t", "t", "-d", "00"]
                + words)
        return thrown { () throws(CommandError) in _ = try run(invocation, .empty) }
    }

    @Test func `send refuses a payload with errors before it calls a server, unless forced`() throws {
        let files = try TemporaryDirectory()
        let wrong = try files.write(#"{"aps":{"badge":"3"}}"#, to: "wrong.json")
        let refusal = try #require(try sendFailure(["--payload", wrong, "--lint"]))
        #expect(refusal.problem == "cannot send the notification: the payload has an error")
        #expect(refusal.remedy == "Correct the payload, or send it with --force.")
        #expect(refusal.exitCode == .refused)
        for words in [
            ["--payload", wrong], ["--payload", wrong, "--lint", "--force"], ["--body", "lower", "--lint"],
            ["--push-type", "background", "--lint"],
        ] {
            #expect(try sendFailure(words)?.exitCode == .unreachable, "\(words)")
        }
        #expect(try sendFailure(["--payload", wrong, "--force"])?.exitCode == .usage)
    }
}
