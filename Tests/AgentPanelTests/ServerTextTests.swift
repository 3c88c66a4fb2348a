// SPDX-License-Identifier: Apache-2.0

import AgentBus
@testable import AgentPanel
import PushCore
import Testing

struct ServerTextTests {
    private static let now = Timestamp(unixSeconds: 1_795_295_709)
    private static let earlier = now.advanced(bySeconds: -60)

    private func text(
        since: Timestamp?, last: Timestamp?, error: String = "", url: String = "https://push.example.org:2197",
        problem: ConnectionProblem = .none
    ) -> ServerText {
        var status = StatusRecord()
        status.serverURL = url
        status.isConnected = since != nil
        status.connectedSince = since
        status.lastConnectedAt = last
        status.lastError = error
        status.problem = problem == .none && !error.isEmpty ? .unreachable : problem
        return ServerText(status)
    }

    @Test func `a connected server shows since when, and hides earlier errors`() {
        let text = text(since: Self.earlier, last: .unixEpoch, error: "refused")
        #expect(text.connection(now: Self.now).hasPrefix("Connected since ") && text.trouble == "")
        #expect(text.details == "" && text.name == "push.example.org:2197")
    }

    @Test func `a disconnected server shows the last connection, and the agent's error only as details`() {
        let text = text(since: nil, last: Self.earlier, error: "connection refused")
        #expect(text.connection(now: Self.now).hasPrefix("Last connected "))
        #expect(text.trouble.hasPrefix("The server cannot be reached. Retrying automatically."))
        #expect(!text.trouble.contains("refused") && text.details == "connection refused")
        #expect(self.text(since: nil, last: nil, error: "no").connection(now: Self.now) == "Not connected yet")
    }

    @Test(arguments: ConnectionProblem.allCases.filter { $0 != .none })
    func `each problem has sentences of its own and a remedy`(problem: ConnectionProblem) {
        let text = text(since: nil, last: Self.earlier, error: "raw text", problem: problem)
        let others = ConnectionProblem.allCases.filter { $0 != problem && $0 != .none }
            .map { self.text(since: nil, last: Self.earlier, error: "raw text", problem: $0).trouble }
        #expect(!others.contains(text.trouble) && text.trouble.hasSuffix("."))
        #expect(!text.trouble.contains("raw text") && text.details == "raw text")
        #expect(text.trouble.contains("cannot be reached") == (problem == .unreachable))
        let retries = [.unreachable, .certificate, .storage, .server].contains(problem)
        #expect(text.trouble.contains("Retrying automatically.") == retries)
    }

    @Test func `the line above the list says why nothing arrives, and offers to pair`() {
        var status = StatusRecord()
        #expect(ConnectionTrouble(status) == .notPaired && ConnectionTrouble(status)?.remedy == "Pair…")
        status.isEnrolled = true
        status.serverURL = "https://push.example.org:2197"
        #expect(ConnectionTrouble(status) == nil, "the first attempt has not ended")
        status.problem = .unreachable
        #expect(ConnectionTrouble(status)?.text(now: Self.now) == "Not connected yet")
        status.lastConnectedAt = Self.earlier
        let text = ConnectionTrouble(status)?.text(now: Self.now)
        #expect(text == "Not connected since \(PanelTime.moment(Self.earlier, now: Self.now))")
        status.problem = .wrongServer
        #expect(ConnectionTrouble(status)?.text(now: Self.now).contains("not the server") == true)
        #expect(ConnectionTrouble(status)?.remedy == nil)
        status.isConnected = true
        status.connectedSince = Self.now
        #expect(ConnectionTrouble(status) == nil)
    }

    @Test func `a server shows Connecting until an error occurs`() {
        for last in [nil, Self.earlier] {
            #expect(text(since: nil, last: last).connection(now: Self.now) == "Connecting…")
        }
        #expect(text(since: Self.now, last: nil).connection(now: Self.now) != "Connecting…")
    }

    @Test func `no error is shown before the first attempt to connect`() {
        #expect(text(since: nil, last: nil).trouble == "")
    }

    @Test func `a device without a server shows None`() {
        let text = text(since: nil, last: nil, url: "")
        #expect(text.connection(now: Self.now) == "" && text.name == "")
    }
}
