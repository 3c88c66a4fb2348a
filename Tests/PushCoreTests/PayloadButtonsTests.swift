// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PushCore

@Suite struct PayloadButtonsTests {
    private func payload(_ actions: String) throws -> Payload {
        try Payload(parsing: Array(#"{"aps":{"alert":"x"},"posthorn-actions":\#(actions)}"#.utf8).span)
    }

    @Test func `a button opens a link or sends a request`() throws {
        let payload = try payload(
            #"""
            [{"title":"Log","url":"https://example.org/log"},
            {"title":"Retry","request":{"url":"https://example.org/r","method":"put","headers":{"X-Key":"é"},"body":"b"}},
            {"title":"Stop","request":{"url":"https://example.org/s"}}]
            """#)
        let retry = Payload.ButtonRequest(
            link: try NotificationLink("https://example.org/r"), method: "PUT", fields: [("x-key", "é")], body: "b")
        let stop = Payload.ButtonRequest(
            link: try NotificationLink("https://example.org/s"), method: "POST", fields: [], body: "")
        #expect(
            payload.buttons == [
                .init(title: "Log", effect: .open(try NotificationLink("https://example.org/log"))),
                .init(title: "Retry", effect: .request(retry)), .init(title: "Stop", effect: .request(stop)),
            ])
        #expect(!payload.lacksButtons)
        #expect(payload.ignoredMembers.isEmpty)
    }

    @Test(arguments: [
        #"{"title":"x"}"#, #"{"url":"https://a.example"}"#, #"{"title":"","url":"https://a.example"}"#,
        #"{"title":"x","url":"http://a.example"}"#, #"{"title":"x","url":"file:///etc/passwd"}"#,
        #"{"title":"x","url":"mail://a"}"#, #"{"title":"x","request":{"url":"http://a.example"}}"#,
        #"{"title":"x","request":{"url":"https://a.example","method":"CONNECT"}}"#,
        #"{"title":"x","request":{"url":"https://a.example","method":"GET\r\nX: y"}}"#,
        #"{"title":"x","request":{"url":"https://a.example","headers":{"Host":"b"}}}"#,
        #"{"title":"x","request":{"url":"https://a.example","headers":{"a\nb":"c"}}}"#,
        #"{"title":"x","request":{"url":"https://a.example","headers":{"a":"b\r\nHost: c"}}}"#,
        #"{"title":"x","request":{"url":"https://a.example","headers":{"a":1}}}"#, "1", "null",
    ])
    func `a button that could reach anything else is left out`(button: String) throws {
        let payload = try payload(#"[\#(button),{"title":"Good","url":"https://a.example"}]"#)
        #expect(payload.buttons.map(\.title) == ["Good"])
        #expect(payload.lacksButtons)
        #expect(payload.ignoredMembers.hasPrefix("posthorn-actions: "))
    }

    @Test func `the fourth button is left out, and another value is no list`() throws {
        let button = #"{"title":"x","url":"https://a.example"}"#
        let four = try payload("[\(button),\(button),\(button),\(button)]")
        #expect(four.buttons.count == 3 && four.lacksButtons)
        #expect(try payload("{}").lacksButtons)
        #expect(try !payload("null").lacksButtons)
        #expect(try !payload("[]").lacksButtons)
    }
}
