// SPDX-License-Identifier: Apache-2.0

import AgentPanel
import Testing

struct ServerTextTests {
    private static let url = "https://push.example.org:2197"

    private func lines(since: Int64?, last: Int64?, error: String, url: String = ServerTextTests.url) -> [String] {
        ServerText(url: url, connectedSinceUnixSeconds: since, lastConnectedUnixSeconds: last, lastError: error)
            .subtitle.split(separator: "\n").map(String.init)
    }

    @Test func `a connection says since when, and keeps old trouble to itself`() throws {
        let lines = lines(since: 1_795_295_709, last: 1, error: "refused")
        #expect(lines.count == 2 && lines[0] == Self.url)
        #expect(lines[1].wholeMatch(of: /Connected since 2026-11-2\d \d\d:\d\d/) != nil)
    }

    @Test func `without one it says when there last was one, and why there is none`() {
        let lines = lines(since: nil, last: 1_795_295_709, error: "connection refused")
        #expect(lines.count == 3 && lines[2] == "connection refused")
        #expect(lines[1].wholeMatch(of: /Not connected\. Last connected 2026-11-2\d \d\d:\d\d/) != nil)
        #expect(self.lines(since: nil, last: nil, error: "") == [Self.url, "Not connected yet"])
    }

    @Test func `a device without a server says how it gets one`() {
        let lines = lines(since: nil, last: nil, error: "", url: "")
        #expect(lines == ["None yet. Enrol this device: posthorn agent enrol"])
    }
}
