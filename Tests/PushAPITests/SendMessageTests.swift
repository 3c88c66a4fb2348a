// SPDX-License-Identifier: Apache-2.0

import PushCore
import Synchronization
import TestSupport
import Testing

@testable import PushAPI

@Suite struct SendMessageTests {
    /// If each word searched the rest of the text, 10^12 characters would be compared, which takes hours.
    @Test func `a million words in ntfy's short format are read in linear time`() async throws {
        let text = String(repeating: "a,", count: 1_000_000)
        // The test does not wait for the end of a reading that takes hours.
        let reading = Reading()
        Task.detached {
            do throws(SendDefect) { _ = try NtfyActions.parse(text) } catch {
                reading.defect.store(true, ordering: .relaxed)
            }
        }
        try await eventually("the fourth word has no name", within: .seconds(120)) {
            reading.defect.load(ordering: .relaxed)
        }
    }

    private final class Reading: Sendable {
        let defect = Atomic(false)
    }

    private func message(_ json: String) throws -> SendMessage { try SendMessage(json: Array(json.utf8)) }

    private func payload(_ message: SendMessage) -> String { String(decoding: message.payload, as: UTF8.self) }

    @Test func `a message becomes an APNs payload`() throws {
        let message = try message(
            #"""
            {"title":"Backup","subtitle":"db1","body":"Done \"now\"","badge":3,"sound":"chime","level":"time-sensitive",
            "category":"backup","thread_id":"db","url":"https://example.org/1","collapse_id":"c","expires_in":60,
            "actions":[{"title":"Log","url":"https://example.org/log"},
            {"title":"Retry","request":{"url":"https://example.org/r","method":"PUT","headers":{"a":"b"},"body":"x"}}]}
            """#)
        #expect(
            payload(message)
                == #"{"aps":{"alert":{"title":"Backup","subtitle":"db1","body":"Done \"now\""},"badge":3,"sound":"chime","#
                + #""category":"backup","thread-id":"db","interruption-level":"time-sensitive"},"#
                + #""url":"https://example.org/1","posthorn-actions":[{"title":"Log","url":"https://example.org/log"},"#
                + #"{"title":"Retry","request":{"url":"https://example.org/r","method":"PUT","headers":{"a":"b"},"body":"x"}}]}"#
        )
        #expect(message.collapseID == "c")
        #expect(message.lifeSeconds == 60)
        #expect(message.priority == 10)
        #expect(message.recipients == .all)
    }

    @Test(arguments: [
        (#"{"body":"Hello"}"#, #"{"aps":{"alert":{"body":"Hello"},"sound":"default"}}"#),
        (#"{"body":"Hello","sound":"none"}"#, #"{"aps":{"alert":{"body":"Hello"}}}"#),
        (#"{"badge":0}"#, #"{"aps":{"badge":0}}"#),
        (#"{"payload":{"aps":{"badge" : 1.0e0}}}"#, #"{"aps":{"badge" : 1.0e0}}"#),
    ])
    func `a message has a sound if it has a text, and a whole payload is not changed`(json: String, expected: String)
        throws
    {
        #expect(payload(try message(json)) == expected)
    }

    @Test(arguments: [
        ("[]", "not a JSON object"), (#"{"message":"x"}"#, "Did you mean 'body'?"), (#"{"titel":"x"}"#, "'title'"),
        (#"{"body":1}"#, "body must be a string"), (#"{"badge":-1}"#, "badge must be"),
        (#"{"level":"loud"}"#, "passive, active, time-sensitive"), (#"{"devices":["x"]}"#, "device IDs"),
        (#"{"devices":[]}"#, "device IDs"), (#"{"channel":"x"}"#, "channel ID"),
        (#"{"body":"x","payload":{}}"#, "cannot be combined with body"), (#"{"payload":[]}"#, "payload must be"),
        (#"{"actions":[{"url":"https://a.example"}]}"#, "must have a title"), (#"{"expires_in":-1}"#, "expires_in"),
        (#"{"actions":[{"title":"a"}]}"#, "and a url with https"), (#"{"collapse_id":""}"#, "1 to 64 bytes"),
    ])
    func `an invalid member is reported with its name`(json: String, mention: String) {
        #expect {
            try message(json)
        } throws: { error in
            (error as? SendDefect)?.text.contains(mention) ?? false
        }
    }

    @Test(arguments: [
        #""url":"javascript:alert(1)""#, #""url":"https://example.org/\r\nX""#,
        #""actions":[{"title":"Open","url":"http://example.org"}]"#,
        #""actions":[{"title":"Go","request":{"url":"https://example.org","method":"GE T"}}]"#,
        #""actions":[{"title":"Go","request":{"url":"https://example.org","headers":{"X\r\nY":"1"}}}]"#,
        #""actions":[{"title":"Go","request":{"url":"https://example.org","headers":{"Host":"a"}}}]"#,
    ])
    func `an address or a request that devices refuse is refused at once`(member: String) {
        #expect(throws: SendDefect.self) { try SendMessage(json: Array(#"{"body":"Text",\#(member)}"#.utf8)) }
    }

    @Test func `a text has its other members in the query`() throws {
        let device = DeviceID(rawValue: 0x00a1_b2c3_d4e5_f607)
        let text = "title=A+b%21&badge=2&device=\(device.text)&token=tk_1"
        let query = try #require(FormFields(urlEncoded: Array(text.utf8)[...]))
        let message = try SendMessage(text: "Backup done", query)
        #expect(
            payload(message) == #"{"aps":{"alert":{"title":"A b!","body":"Backup done"},"badge":2,"sound":"default"}}"#)
        #expect(message.recipients == .devices([device]))
        #expect(throws: SendDefect.self) { try SendMessage(text: "x", FormFields([.init("titel", "x")])) }
    }

    @Test(arguments: [(0, true), (-1, true), (1, false)])
    func `a query with too many parameters is not read`(excess: Int, isRead: Bool) {
        let text = Array(repeating: "a", count: Limits.sendParameterCountMax + excess).joined(separator: "&")
        #expect((FormFields(urlEncoded: Array(text.utf8)[...]) != nil) == isRead)
    }

    /// To find the ends of these characters takes quadratic time: about half an hour for this text.
    @Test(.timeLimit(.minutes(3))) func `a long text of flags is shortened in linear time`() {
        var message = SendMessage()
        message.body = String(repeating: "\u{1F1E6}", count: 1_000_000)
        let fits = message.shorten(toPayload: 4096)
        #expect(fits)
        #expect(message.body?.hasSuffix("…") == true && message.payload.count <= 4096)
    }

    @Test(arguments: [0, 1, 10, 100, 5000])
    func `a body is shortened until the payload fits`(excess: Int) {
        var message = SendMessage()
        message.title = "Title"
        message.body = String(repeating: "ü\n\"", count: 2000)
        let byteCountMax = max(60, message.payload.count - excess)
        let fits = message.shorten(toPayload: byteCountMax)
        #expect(fits)
        #expect(message.payload.count <= byteCountMax)
    }
}

@Suite struct ForeignMessageTests {
    private func ntfy(_ body: String, _ fields: (String, String)...) throws -> SendMessage {
        try SendMessage(ntfy: Array(body.utf8), FormFields(fields.map { .init($0.0, $0.1) }))
    }

    @Test func `ntfy's headers become texts, a level, a link and buttons`() throws {
        let message = try ntfy(
            "Look ma, no hands", ("Title", "Unauthorized access detected"), ("Priority", "urgent"),
            ("Tags", "warning,skull,db1"), ("Click", "https://home.nest.com/"),
            (
                "Actions",
                "view, Open portal, https://home.nest.com/, clear=true; http, 'Close, please', "
                    + "https://api.nest.com/device/XZ1D2, method=PUT, headers.Authorization=Bearer zAz, body='{\"a\": 1}'"
            ))
        #expect(message.title == "⚠️ 💀 Unauthorized access detected")
        #expect(message.body == "Look ma, no hands\nTags: db1")
        #expect(message.level == .timeSensitive)
        #expect(message.link == "https://home.nest.com/")
        let request = SendMessage.Button.Request(
            url: "https://api.nest.com/device/XZ1D2", method: "PUT",
            headers: [.init(key: "Authorization", value: .string("Bearer zAz"))], body: #"{"a": 1}"#)
        #expect(
            message.buttons == [
                .init(title: "Open portal", effect: .open("https://home.nest.com/")),
                .init(title: "Close, please", effect: .request(request)),
            ])
        #expect(message.ignored.isEmpty)
    }

    @Test func `ntfy's other parameters are reported as ignored, and a delay is refused`() throws {
        let message = try ntfy(
            "", ("m", "=?UTF-8?B?w4RwZmVs?= und =?utf-8?q?B=C3=A4ume_?= =?UTF-8?Q?x?="),
            ("X-Icon", "https://a.example/i"),
            ("attach", "https://a.example/a"), ("X-Email", "a@example.org"), ("Click", "http://a.example"),
            ("cache", "no"))
        #expect(message.body == "Äpfel und Bäume x")
        #expect(
            message.ignored == ["click: its scheme is never opened; use https", "attach", "icon", "email", "cache"])
        #expect(throws: SendDefect.self) { try ntfy("x", ("In", "30min")) }
        #expect(throws: SendDefect.self) { try ntfy("x", ("Priority", "6")) }
        #expect(throws: SendDefect.self) { try SendMessage(ntfy: [0xFF, 0xD8], FormFields()) }
        #expect(try ntfy("").body == "triggered")
    }

    @Test(arguments: [
        ("1", SendMessage.Level.passive, true), ("low", .passive, true), ("3", .active, false),
        ("high", .active, false),
        ("max", .timeSensitive, false),
    ])
    func `ntfy's priorities become levels`(priority: String, level: SendMessage.Level, isSilent: Bool) throws {
        let message = try ntfy("x", ("Priority", priority))
        #expect(message.level == level)
        #expect(message.isSilent == isSilent)
    }

    @Test func `ntfy's JSON names the topic`() throws {
        let (topic, message) = try SendMessage.ntfy(
            json: Array(
                #"""
                {"topic":"org.example.Disk","message":"Disk space is low at 5.1 GB","title":"Low disk space","tags":["warning","cd"],
                "priority":4,"attach":"https://filesrv.lan/space.jpg","filename":"diskspace.jpg","click":"https://homecamera.lan/xasds1h2xsSsa/",
                "actions":[{"action":"view","label":"Admin panel","url":"https://filesrv.lan/admin"},
                {"action":"broadcast","label":"Take picture","intent":"x"}]}
                """#.utf8))
        #expect(topic == "org.example.Disk")
        #expect(message.title == "⚠️ 💿 Low disk space")
        #expect(message.buttons.map(\.title) == ["Admin panel"])
        #expect(message.ignored == ["action broadcast without label or url", "attach", "filename"])
        #expect(throws: SendDefect.self) { try SendMessage.ntfy(json: Array(#"{"message":"x"}"#.utf8)) }
    }

    @Test func `Gotify's messages come as JSON and as forms`() throws {
        let (message, priority) = try SendMessage.gotify(
            json: Array(
                #"""
                {"message":"Backup was successfully finished.","title":"Backup","priority":8,
                "extras":{"client::notification":{"click":{"url":"https://gotify.net"}},"client::display":{"contentType":"text/markdown"}}}
                """#.utf8))
        #expect(priority == 8)
        #expect(message.level == .timeSensitive)
        #expect(message.link == "https://gotify.net")
        #expect(message.ignored == ["markdown"])
        let body = Array(
            "--XX\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nmy title\r\n--XX\r\nContent-Disposition: form-data; name=\"message\"\r\n\r\nline 1\r\nline 2\r\n--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nzzz\r\n--XX\r\nContent-Disposition: form-data; name=\"priority\"\r\n\r\n2\r\n--XX--\r\n"
                .utf8)
        let boundary = try #require(MultipartForm.boundary(of: "multipart/form-data; boundary=XX"))
        let (form, low) = try SendMessage.gotify(try MultipartForm.fields(of: body, boundary: boundary))
        #expect((form.title, form.body, low) == ("my title", "line 1\r\nline 2", 2))
        #expect(form.level == .passive)
        #expect(throws: SendDefect.self) { try SendMessage.gotify(FormFields([.init("title", "x")])) }
        for length in 0..<body.count {
            // A form that was cut off is refused, and never crashes.
            _ = try? MultipartForm.fields(of: Array(body[..<length]), boundary: "XX")
        }
    }

    @Test(arguments: [
        ("multipart/form-data; boundary=\"a b\"", "a b"), ("Multipart/Form-Data;boundary=x;charset=y", "x"),
        ("multipart/form-data", nil), ("application/json", nil), ("", nil),
    ])
    func `the boundary of a form is found`(contentType: String, boundary: String?) {
        #expect(MultipartForm.boundary(of: contentType) == boundary)
    }

    @Test(arguments: [
        ("https://f-droid.example/F-Droid.apk", nil, "F-Droid.apk", true),
        ("https://a.example/42", "flower.jpg", "flower.jpg", true), ("http://a.example/42", nil, "42", false),
    ])
    func `an attachment without a text becomes the link`(url: String, name: String?, shown: String, isLink: Bool) throws
    {
        let fields = [FormFields.Field("Attach", url)] + (name.map { [FormFields.Field("Filename", $0)] } ?? [])
        let message = try SendMessage(ntfy: [], FormFields(fields))
        #expect(message.body == "You received a file: \(shown)")
        #expect(message.link == (isLink ? url : nil))
        #expect(message.ignored == (isLink ? [] : ["attach"]))
        let withText = try SendMessage(ntfy: Array("Text".utf8), FormFields(fields))
        #expect(withText.body == "Text" && withText.link == nil && withText.ignored.first == "attach")
    }

    @Test func `an alert of Alertmanager replaces the earlier ones of its group`() throws {
        func webhook(_ status: String) throws -> SendMessage {
            try SendMessage(
                alertmanager: Array(
                    #"""
                    {"version":"4","groupKey":"{}:{alertname=\"DiskFull\"}","status":"\#(status)","receiver":"posthorn",
                    "groupLabels":{"alertname":"DiskFull"},"commonLabels":{"alertname":"DiskFull","severity":"critical"},
                    "commonAnnotations":{},"externalURL":"http://alertmanager:9093","truncatedAlerts":0,"alerts":[
                    {"status":"\#(status)","labels":{"alertname":"DiskFull","instance":"db1"},"annotations":{"summary":"Disk of db1 is 91 % full"},
                    "generatorURL":"https://prometheus.example.org/graph"},
                    {"status":"resolved","labels":{"alertname":"DiskFull","instance":"db2"},"annotations":{}}]}
                    """#.utf8))
        }
        let firing = try webhook("firing")
        #expect(firing.title == "[FIRING:1] DiskFull")
        #expect(firing.body == "Disk of db1 is 91 % full\nResolved: instance: db2")
        #expect(firing.level == .timeSensitive)
        #expect(firing.link == "https://prometheus.example.org/graph")
        let resolved = try webhook("resolved")
        #expect(resolved.title == "[RESOLVED] DiskFull")
        #expect(resolved.level == .passive)
        #expect(resolved.collapseID == firing.collapseID)
        #expect(firing.collapseID?.utf8.count ?? 99 <= Limits.collapseIDByteCountMax)
        #expect(throws: SendDefect.self) { try SendMessage(alertmanager: Array("{}".utf8)) }
    }

    @Test func `an alert of Grafana has its title and the link to its panel`() throws {
        let message = try SendMessage(
            grafana: Array(
                #"""
                {"receiver":"My Super Webhook","status":"firing","orgId":1,"alerts":[{"status":"firing","labels":{"alertname":"High memory usage",
                "team":"blue"},"annotations":{"description":"The system has high memory usage","summary":"This alert was triggered for zone us-1"},
                "generatorURL":"https://play.grafana.org/alerting/1afz29v7z/edit","panelURL":"https://play.grafana.org/d/abcd?viewPanel=1"}],
                "commonLabels":{"team":"blue"},"externalURL":"https://play.grafana.org/","version":"1","groupKey":"{}:{}",
                "title":"[FIRING:1]  (High memory usage blue)","state":"alerting","message":"**Firing**"}
                """#.utf8))
        #expect(message.title == "[FIRING:1] (High memory usage blue)")
        #expect(message.body == "This alert was triggered for zone us-1")
        #expect(message.link == "https://play.grafana.org/d/abcd?viewPanel=1")
        #expect(message.level == .active)
    }

    @Test func `the lines of alerts with different names contain the names`() throws {
        let alerts = #"""
            "alerts":[{"status":"firing","labels":{"alertname":"High memory usage"},"annotations":{"summary":"Zone us-1"}},
            {"status":"firing","labels":{"alertname":"CPU"},"annotations":{"summary":"CPU of db1 is busy"}},
            {"status":"resolved","labels":{"alertname":"Disk","instance":"db2"},"annotations":{}},
            {"status":"firing","labels":{"alertname":"Fan"}}]
            """#
        let lines = "High memory usage: Zone us-1\nCPU of db1 is busy\nResolved: Disk: instance: db2\nFan"
        let grafana = try SendMessage(
            grafana: Array(#"{"status":"firing","title":"[FIRING:3]  (blue)",\#(alerts)}"#.utf8))
        #expect(grafana.title == "[FIRING:3] (blue)")
        #expect(grafana.body == lines)
        let alertmanager = try SendMessage(
            alertmanager: Array(#"{"status":"firing","groupLabels":{"job":"node"},"commonLabels":{},\#(alerts)}"#.utf8))
        #expect(alertmanager.title == "[FIRING:3] node")
        #expect(alertmanager.body == lines)
    }
}
