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
        isRemoved: Bool = false
    ) -> ServerText {
        var status = StatusRecord()
        status.serverURL = url
        status.isConnected = since != nil
        status.connectedSince = since
        status.lastConnectedAt = last
        status.lastError = error
        status.isRemoved = isRemoved
        return ServerText(status)
    }

    @Test func `a connected server shows since when, and hides earlier errors`() {
        let text = text(since: Self.earlier, last: .unixEpoch, error: "refused")
        #expect(text.connection(now: Self.now).hasPrefix("Connected since ") && text.trouble == "")
        #expect(text.state == "Connected" && text.name == "push.example.org:2197")
    }

    @Test func `a disconnected server shows the last connection and the error`() {
        let text = text(since: nil, last: Self.earlier, error: "connection refused")
        #expect(text.connection(now: Self.now).hasPrefix("Last connected "))
        #expect(text.trouble == "The server cannot be reached. Retrying automatically.\nconnection refused")
        #expect(text.state == "Not Connected")
        #expect(self.text(since: nil, last: nil, error: "no").connection(now: Self.now) == "Not connected yet")
    }

    @Test func `a server shows Connecting until an error occurs`() {
        for last in [nil, Self.earlier] {
            #expect(text(since: nil, last: last).connection(now: Self.now) == "Connecting…")
        }
        #expect(text(since: Self.now, last: nil).connection(now: Self.now) != "Connecting…")
    }

    @Test func `a removed device says what to do, and does not promise a retry`() {
        let text = text(
            since: nil, last: Self.earlier, error: "the server does not know this device any more", isRemoved: true)
        #expect(text.trouble == "The server no longer knows this computer. Leave the server, then pair again.")
    }

    @Test func `no error is shown before the first attempt to connect`() {
        #expect(text(since: nil, last: nil).trouble == "")
    }

    @Test func `a device without a server shows None`() {
        let text = text(since: nil, last: nil, url: "")
        #expect(text.state == "None" && text.connection(now: Self.now) == "" && text.name == "")
    }
}
