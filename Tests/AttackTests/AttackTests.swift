// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// Attacks a real server with its default limits, beside an honest provider and an honest device: python/run.py.
///
/// No assertion depends on speed. The report of each attack prints the duration of honest requests.
@Suite(.tags(.slow)) struct AttackTests {
    /// The attacks of python/attacks_on_*.py.
    private static let names = [
        "unfinished-handshakes", "strangers-share", "budget-of-devices", "websocket-with-body", "early-requests",
        "stop-under-streams", "websocket-glitches", "blanks-in-fields",
        "closed-streams", "client-certificates", "hpack-references", "hpack-references-32", "stranger-bodies",
        "idle-connections", "crowd",
        "silent-connections", "lists-with-closed-window", "stream-flood", "unread-log", "foreign-queue",
        "foreign-outcomes", "foreign-lists", "key-probing", "burst", "junk-acknowledgements",
        "repeated-acknowledgements", "random-acknowledgements", "junk-over-websocket", "lists-of-channels", "policies",
        "filters", "stranger-json", "enrolment-guessing", "reset-guesses", "repeated-enrolments", "open-enrolment",
        "bad-signatures",
    ]

    /// The report of one attack.
    private struct Report: Decodable {
        let problems: [String]
        let line: String
    }

    @Test(arguments: names)
    func `an attack ends neither the server nor the service of honest senders and devices`(name: String) async throws {
        let size = Patience.caseCount > 100 ? ["--long"] : []
        let result = try await AttackProgram.run("run.py", [name, "--json"] + size, within: .seconds(240))
        let report = try result.succeeded().decoded(Report.self)
        print(report.line)
        #expect(report.problems == [], "\(report.line)")
    }

    @Test func `each attack of the program has a test`() async throws {
        let listed = try await AttackProgram.run("run.py", ["--list"]).succeeded().output
        let names = listed.split(separator: "\n").compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(names == Self.names)
    }
}
