// SPDX-License-Identifier: Apache-2.0

@testable import PushCore
import TestSupport
import Testing

struct PayloadTests {
    @Test(arguments: [
        "{}", #"{"mdm":"x"}"#, #"{"aps":{}}"#, #"{"aps":null}"#, #"{"aps":[]}"#, #"{"aps":"alert"}"#, #"{"alert":"x"}"#,
    ])
    func `a payload without anything to present is read as such`(text: String) throws {
        let payload = try parse(text)
        #expect(payload == Payload())
        #expect(!payload.isPresentable)
    }

    @Test func `every member of a full payload is read`() throws {
        let payload = try parse(
            """
            {"aps":{"alert":{"title":"T","subtitle":"S","body":"B","action-loc-key":"PLAY"},"badge":3,"sound":"bell.caf",
            "category":"INVITE","thread-id":"t1","content-available":1,"interruption-level":"time-sensitive"},"acme":1}
            """)
        let expected = Payload(
            alert: .init(title: "T", subtitle: "S", body: "B", action: .labelled("PLAY")), badge: 3,
            sound: .init(name: "bell.caf"), category: "INVITE", threadID: "t1", isContentAvailable: true,
            interruptionLevel: .timeSensitive)
        #expect(payload == expected)
        #expect(payload.isPresentable)
        #expect(payload.actionLabel == "PLAY")
    }

    @Test(
        arguments: [
            (#""Hi""#, .init(body: "Hi")), (#"{"body":"Hi"}"#, .init(body: "Hi")),
            (#"{"title":"Hi"}"#, .init(title: "Hi")),
            (#"{"subtitle":"Hi"}"#, .init(subtitle: "Hi")), (#"{"title":"","body":"Hi"}"#, .init(body: "Hi")),
            (#"{"title":7,"body":"Hi"}"#, .init(body: "Hi")), (#"{"loc-key":"KEY"}"#, .init(body: "KEY")),
            (#"{"body":"Hi","loc-key":"KEY"}"#, .init(body: "Hi")), (#"{"title-loc-key":"KEY"}"#, .init(title: "KEY")),
            (#"{"subtitle-loc-key":"KEY"}"#, .init(subtitle: "KEY")),
            (#"{"title":{"loc-key":"KEY"}}"#, .init(title: "KEY")),
            (#""""#, nil), ("{}", nil), (#"{"body":""}"#, nil), (#"{"action-loc-key":null}"#, nil), ("null", nil),
            ("1", nil),
            ("1.5", nil), ("true", nil), ("[]", nil),
        ] as [(String, Payload.Alert?)])
    func `an alert is a text or an object with texts`(text: String, alert: Payload.Alert?) throws {
        let payload = try parse("{\"aps\":{\"alert\":\(text)}}")
        #expect(payload.alert == alert)
        #expect(payload.isPresentable == (alert != nil))
    }

    @Test(arguments: [
        ("%@ plays %@", "A plays B"), ("%2$@ and %1$@", "B and A"), ("%@", "A"), ("%@%@%@", "AB…"),
        ("%3$@ %0$@", "… %0$@"),
        ("100%", "100%"), ("100%% of %@", "100% of A"), ("%d %s", "%d %s"), ("%1$d", "%1$d"), ("%12$@", "…"),
        ("%123$@", "%123$@"),
        ("% @", "% @"), ("%1%", "%1%"), ("%1@", "%1@"), ("%$@", "%$@"), ("%2$@ %@", "B A"),
    ])
    func `arguments fill the placeholders of a localized text`(format: String, text: String) throws {
        let payload = try parse(#"{"aps":{"alert":{"loc-key":"\#(format)","loc-args":["A","B"]}}}"#)
        #expect(payload.alert?.body == text)
    }

    @Test(arguments: ["", #","loc-args":[]"#, #","loc-args":"A""#, #","loc-args":[null,1]"#])
    func `placeholders without arguments become an ellipsis`(arguments: String) throws {
        #expect(try parse(#"{"aps":{"alert":{"loc-key":"%@ plays"\#(arguments)}}}"#).alert?.body == "… plays")
    }

    @Test func `arguments that are not texts keep their places`() throws {
        let alert = #"{"loc-key":"%@ of %@ in %@","loc-args":[3,null,"Home"]}"#
        #expect(try parse("{\"aps\":{\"alert\":\(alert)}}").alert?.body == "3 of … in Home")
        let nothing = #"{"title":"T","loc-key":"A_B","loc-args":[null]}"#
        #expect(try parse("{\"aps\":{\"alert\":\(nothing)}}").alert == .init(title: "T"))
    }

    static let untranslated: [(alert: String, expected: Payload.Alert)] = [
        (#"{"loc-key":"PHOTO_SENT","loc-args":["Anna","Kim"]}"#, .init(body: "Anna, Kim")),
        (#"{"title-loc-key":"mail.from","title-loc-args":["Anna"],"body":"b"}"#, .init(title: "Anna", body: "b")),
        (#"{"title":"T","loc-key":"PHOTO_SENT"}"#, .init(title: "T")),
        (#"{"loc-key":"PHOTO_SENT"}"#, .init(body: "New notification")),
        (#"{"title":{"loc-key":"mail.from"}}"#, .init(body: "New notification")),
        (#"{"loc-key":"Sent."}"#, .init(body: "Sent.")), (#"{"loc-key":"_"}"#, .init(body: "_")),
        (#"{"loc-key":"A b_c"}"#, .init(body: "A b_c")), (#"{"body":"b","loc-key":"a.b"}"#, .init(body: "b")),
        (#"{"body":"b","action-loc-key":"VIEW_NOW"}"#, .init(body: "b", action: .standard)),
    ]

    @Test(arguments: untranslated)
    func `a key that only programs understand is not shown`(alert: String, expected: Payload.Alert) throws {
        #expect(try parse("{\"aps\":{\"alert\":\(alert)}}").alert == expected)
    }

    @Test(arguments: [
        (#"{"title":"T","title-loc-key":"A_B","title-loc-args":["x"],"loc-key":"C_D"}"#, "<A_B x>", "<C_D …>"),
        (#"{"title":{"loc-key":"A_B","loc-args":["x"]},"body":{"loc-key":"C","loc-args":["y"]}}"#, "<A_B x>", "<C y>"),
        (#"{"title":"T","body":"B"}"#, "T", "B"), (#"{"title":"T","title-loc-key":"","body":"B"}"#, "T", "B"),
    ])
    func `the app's own text for a key replaces the one sent`(alert: String, title: String, body: String) throws {
        let bytes = Array("{\"aps\":{\"alert\":\(alert)}}".utf8)
        let payload = try Payload(parsing: bytes.span) { "<\($0) %@>" }
        #expect(payload.alert?.title == title)
        #expect(payload.alert?.body == body)
        let button = Array(#"{"aps":{"alert":{"body":"b","action-loc-key":"VIEW_NOW"}}}"#.utf8)
        #expect(try Payload(parsing: button.span) { $0 == "VIEW_NOW" ? "Look" : nil }.actionLabel == "Look")
    }

    @Test(arguments: ["title-loc", "subtitle-loc", "loc"])
    func `placeholders that repeat a long argument do not exceed the limit`(name: String) throws {
        let places = String(repeating: "%1$@", count: 630)
        let argument = String(repeating: "ä", count: 1250)
        let alert = try parse(#"{"aps":{"alert":{"\#(name)-key":"\#(places)","\#(name)-args":["\#(argument)"]}}}"#)
            .alert
        let text = try #require(alert?.title ?? alert?.subtitle ?? alert?.body)
        #expect(text.hasPrefix(argument + argument) && text.hasSuffix("ä…"))
        #expect((8188...8192).contains(text.utf8.count))
    }

    @Test func `a text from an app's filter is truncated, and one that a provider can send is not`() throws {
        let (longest, tooLong) = (String(repeating: "x", count: 5100), String(repeating: "x", count: 60_000))
        #expect(try parse(#"{"aps":{"alert":"\#(longest)"}}"#).alert?.body == longest)
        for alert in [#""\#(tooLong)""#, #"{"body":"\#(tooLong)"}"#, #"{"loc-key":"A_B","loc-args":["\#(tooLong)"]}"#] {
            #expect(try parse(#"{"aps":{"alert":\#(alert)}}"#).alert?.body?.utf8.count == 8192)
        }
    }

    @Test func `arguments are not interpreted as formats`() throws {
        let payload = try parse(#"{"aps":{"alert":{"loc-key":"%@ %@","loc-args":["%@","%1$@"]}}}"#)
        #expect(payload.alert?.body == "%@ %1$@")
    }

    @Test(
        arguments: [
            (#"{"body":"b"}"#, .standard, "View"),
            (#"{"body":"b","action-loc-key":"Play"}"#, .labelled("Play"), "Play"),
            (#"{"body":"b","action-loc-key":null}"#, .none, nil),
            (#"{"body":"b","action-loc-key":""}"#, .standard, "View"),
            (#"{"body":"b","action-loc-key":1}"#, .standard, "View"), (#""b""#, .standard, "View"),
        ] as [(String, Payload.Action, String?)])
    func `the button says View or its own label, or is absent`(
        text: String, action: Payload.Action, label: String?
    ) throws {
        let payload = try parse("{\"aps\":{\"alert\":\(text)}}")
        #expect(payload.alert?.action == action)
        #expect(payload.actionLabel == label)
    }

    @Test(
        arguments: [
            ("0", 0), ("1", 1), ("4294967295", .max), ("4294967296", nil), ("-1", nil), ("2.5", nil), ("3.0", nil),
            ("1e2", nil),
            ("\"3\"", nil), ("true", nil), ("null", nil), ("[1]", nil), ("{\"count\":3}", nil),
            ("99999999999999999999", nil),
        ] as [(String, UInt32?)])
    func `a badge is a whole number that is not negative`(text: String, badge: UInt32?) throws {
        let payload = try parse("{\"aps\":{\"badge\":\(text)}}")
        #expect(payload.badge == badge)
        #expect(payload.hasUnreadableBadge == (badge == nil && text != "null"))
        #expect(payload.isPresentable == (text != "null"))
    }

    @Test(
        arguments: [
            (#""default""#, .standard), (#""bell""#, .init(name: "bell")),
            (#""Bell-2_x.caf""#, .init(name: "Bell-2_x.caf")),
            (#""../../etc/passwd""#, .standard), (#""/dev/urandom""#, .standard), (#"".hidden""#, .standard),
            (#""-rf""#, .standard),
            (#""_a""#, .standard), (#""a b""#, .standard), (#""a/b""#, .standard), (#""bell\u0000.caf""#, .standard),
            (#""glöckchen""#, .standard),
            (#"{}"#, .standard), (#"{"name":"bell"}"#, .init(name: "bell")), (#"{"name":"default"}"#, .standard),
            (#"{"name":"../x","critical":1}"#, .init(isCritical: true)),
            (#"{"critical":1,"volume":0.5}"#, .init(isCritical: true, volume: 0.5)),
            (#"{"critical":0}"#, .standard), (#"{"critical":true}"#, .standard), (#"{"volume":0}"#, .init(volume: 0)),
            (#"{"volume":1}"#, .init(volume: 1)), (#"{"volume":1.1}"#, .standard), (#"{"volume":-0.1}"#, .standard),
            (#"{"volume":"1"}"#, .standard), (#""""#, nil), ("null", nil), ("true", nil), ("1", nil), ("1.5", nil),
            ("[]", nil),
        ] as [(String, Payload.Sound?)])
    func `a sound is a safe name, the default sound or silence`(text: String, sound: Payload.Sound?) throws {
        let payload = try parse("{\"aps\":{\"sound\":\(text)}}")
        #expect(payload.sound == sound)
        #expect(payload.isPresentable == (sound != nil))
    }

    @Test(arguments: [(1, true), (64, true), (65, false)])
    func `the name of a sound has at most 64 bytes`(count: Int, isNamed: Bool) throws {
        let name = String(repeating: "a", count: count)
        #expect(try parse("{\"aps\":{\"sound\":\"\(name)\"}}").sound == .init(name: isNamed ? name : nil))
    }

    @Test func `a sound inside the alert is used when the payload has no other`() throws {
        #expect(try parse(#"{"aps":{"alert":{"body":"b","sound":"bell"}}}"#).sound == .init(name: "bell"))
        #expect(
            try parse(#"{"aps":{"alert":{"body":"b","sound":"bell"},"sound":"gong"}}"#).sound == .init(name: "gong"))
    }

    @Test(arguments: [
        ("1", true), ("0", false), ("2", false), ("true", false), ("\"1\"", false), ("1.0", false), ("null", false),
    ])
    func `content is available when the member is 1`(text: String, isAvailable: Bool) throws {
        let payload = try parse("{\"aps\":{\"content-available\":\(text)}}")
        #expect(payload.isContentAvailable == isAvailable)
        #expect(!payload.isPresentable)
    }

    @Test(
        arguments: [
            ("\"passive\"", .passive), ("\"active\"", .active), ("\"time-sensitive\"", .timeSensitive),
            ("\"critical\"", .critical),
            ("\"Critical\"", .active), ("\"\"", .active), ("1", .active), ("null", .active),
        ] as [(String, Payload.InterruptionLevel)])
    func `an unknown interruption level is active`(text: String, level: Payload.InterruptionLevel) throws {
        #expect(try parse("{\"aps\":{\"interruption-level\":\(text)}}").interruptionLevel == level)
    }

    @Test(arguments: ["   ", #"\n\n\n"#, #"\u200b\u00a0"#, #"\ufeff"#, #"\u2800"#, #"\u0007\u202e"#])
    func `a blank text is no text`(blank: String) throws {
        let alerts = ["\"\(blank)\"", #"{"title":"\#(blank)","body":"\#(blank)"}"#, #"{"loc-key":"\#(blank)"}"#]
        for alert in alerts {
            let payload = try parse(#"{"aps":{"alert":\#(alert)}}"#)
            #expect(payload == Payload())
            #expect(!payload.isPresentable)
        }
        let titled = try parse(#"{"aps":{"alert":{"title":"Hi","body":"\#(blank)"}}}"#)
        #expect(titled.alert == Payload.Alert(title: "Hi"))
    }

    @Test(arguments: ["\"\"", "1", "null", "[]", "{}"])
    func `a category and a thread are non-empty texts`(text: String) throws {
        let payload = try parse("{\"aps\":{\"category\":\(text),\"thread-id\":\(text)}}")
        #expect(payload.category == nil)
        #expect(payload.threadID == nil)
    }

    @Test(arguments: ["", "[]", "null", "{", "{\"aps\":{}}x", "{\"aps\":{\"alert\":\"\\ud800\"}}"])
    func `input that is not a JSON object is refused`(text: String) {
        #expect(throws: JSONError.self) { try parse(text) }
    }

    @Test func `the last of several members with one name counts`() throws {
        #expect(try parse(#"{"aps":{"badge":1},"aps":{"badge":2,"badge":3}}"#).badge == 3)
    }

    private func parse(_ text: String) throws -> Payload {
        try Payload(parsing: bytes(text).span)
    }
}
