// SPDX-License-Identifier: Apache-2.0

@testable import PayloadLint
import PushCore
import Testing

struct PayloadLinterTests {
    /// Payloads that follow every rule.
    static let good: [String] = [
        #"{"aps":{"alert":"Kim finished the quarterly report."}}"#,
        #"{"aps":{"alert":{"title":"Backup Finished","body":"All files of the office are safe."},"badge":1}}"#,
        #"{"aps":{"alert":{"title":"Restart the backup?","body":"The disk of the server is full."}}}"#,
        #"{"aps":{"alert":{"title":"Lunch with Kim","subtitle":"Today","body":"At noon, in the canteen?"}}}"#,
        #"{"aps":{"alert":{"title":"Report from Kim","body":"The report of Q3 is ready; see page 12."},"sound":"default"}}"#,
        #"{"aps":{"alert":{"loc-key":"GAME_PLAY","loc-args":["Jenna","Frank"],"action-loc-key":"PLAY_NOW"}}}"#,
        #"{"aps":{"alert":{"title":"備份完成","body":"辦公室的檔案都安全了。"},"badge":2}}"#,
        #"{"aps":{"alert":{"title":"季度报告已经完成","body":"金先生与团队分享了报告，请在下班之前看完。"}}}"#,
        #"{"aps":{"alert":"\u91d1\u5148\u751f\u5b8c\u6210\u4e86\u5831\u544a\u3002"}}"#,
        #"{"aps":{"alert":{"title":"Sicherung ist beendet","body":"Alle Dateien sind sicher."}}}"#,
        #"{"aps":{"alert":{"title":"Réunion à midi","body":"La réunion est dans la salle bleue."}}}"#,
        #"{"aps":{"alert":"การสำรองข้อมูลเสร็จแล้ว"}}"#,
        #"{"aps":{"badge":0}}"#, #"{"aps":{"badge":4294967295,"sound":"bell.caf"}}"#,
        #"{"aps":{"content-available":1},"sync":{"since":17}}"#,
        #"{"aps":{"alert":{"body":"The alarm of the cellar rings.","action-loc-key":"Open Door"},"sound":{"critical":1,"name":"siren","volume":0.8}}}"#,
        #"{"aps":{"alert":"Kim is here.","interruption-level":"time-sensitive","relevance-score":0.5,"thread-id":"a"}}"#,
        #"{"aps":{"alert":"Kim is here.","badge":null,"sound":null,"category":null}}"#,
        #" { "aps" : { "alert" : { "title" : "Mail from Kim" , "body" : "Lunch is at noon." } } , "acme" : [ ] } "#,
    ]

    @Test(arguments: good)
    func `a payload that follows the rules has no findings`(payload: String) {
        #expect(findings(payload, .alert, appName: "Mail").map(\.line) == [])
    }

    static let silentTypes: [PushType] = [
        .background, .voip, .complication, .location, .mdm, .fileprovider, .liveactivity, .widgets, .controls,
        .pushtotalk,
    ]

    @Test(arguments: silentTypes)
    func `a silent push type is not reported as showing nothing`(pushType: PushType) {
        for payload in ["{}", #"{"mdm":"x"}"#, #"{"aps":{}}"#, #"{"aps":{"content-available":1}}"#] {
            #expect(findings(payload, pushType).map(\.line) == [])
        }
        #expect(findings(#"{"aps":{"sound":"ring"}}"#, pushType).map(\.check) == [])
    }

    @Test func `a payload without aps is silent unless it claims to be an alert`() {
        for payload in ["{}", #"{"acme":1}"#] {
            #expect(findings(payload, nil).map(\.check) == [])
            #expect(findings(payload, .alert).map(\.check) == [.nothingToShow])
        }
        #expect(findings(#"{"aps":{}}"#, nil).map(\.check) == [.nothingToShow])
    }

    @Test func `custom data in a silent push type is not reported, except secrets in background`() {
        let payload = #"{"aps":{},"token":"\#(String(repeating: "a", count: 200))"}"#
        #expect(findings(payload, .voip).map(\.check) == [])
        #expect(findings(payload, .background).map(\.check) == [.dataOrSecret])
    }

    @Test func `a finding names the field and the remedy`() {
        #expect(
            findings(#"{"aps":{"badge":"3","alert":7}}"#).map(\.line) == [
                "E L-K04 aps.alert: aps.alert is a whole number. The alert must be a string, or an object with title and body.",
                "E L-G01 aps.badge: aps.badge is a string. A badge is a whole number, 0 or more, without quotes.",
            ])
        #expect(
            findings(#"{"aps":{"allert":"Hi","content-available":1}}"#).map(\.line) == [
                "W L-K13 aps.allert: APNs does not define this key and ignores it: write alert."
            ])
        #expect(
            findings("{").map(\.text) == [
                "byte 1 (line 1, column 2): the object that begins at byte 0 has no closing brace"
            ])
        #expect(
            findings(String(repeating: " ", count: 4998) + "{}", nil).map(\.text) == [
                "The payload has 5000 bytes, but at most 4096 are allowed: send less, and let the app fetch the rest."
            ])
    }

    @Test func `the last of two duplicate members counts, as for devices`() {
        #expect(findings(#"{"aps":{"badge":"x","badge":1}}"#).map(\.check) == [])
        #expect(findings(#"{"aps":{"badge":1,"badge":"x"}}"#).map(\.check) == [.badge])
        #expect(findings(#"{"aps":{"alert":{"title":5}},"aps":{"badge":1}}"#).map(\.check) == [])
        #expect(findings(#"{"aps":{"alert":{"title":5},"alert":"Kim is here."}}"#).map(\.check) == [])
        #expect(findings(#"{"aps":{"badge":1},"aps":{}}"#).map(\.check) == [.nothingToShow])
    }

    @Test(arguments: [
        (#"{"a":"#, "}", 1), (#"{"aps":{"badge":1,"a":"#, "}}", 2), (#"{"aps":{"attributes":"#, "}}", 2),
        (#"{"aps":{"alert":{"a":"#, "}}}", 3), (#"{"aps":{"sound":{"a":"#, "}}}", 3),
    ])
    func `a payload may nest as deep as devices read, and not deeper`(head: String, tail: String, depth: Int) {
        func isMalformed(_ count: Int) -> Bool {
            let brackets = String(repeating: "[", count: count) + String(repeating: "]", count: count)
            return findings(head + brackets + tail).map(\.check) == [.malformed]
        }
        #expect(!isMalformed(Limits.jsonDepthMax - depth))
        #expect(isMalformed(Limits.jsonDepthMax - depth + 1))
    }

    @Test func `the most severe of many findings are kept`() {
        let wrong = PayloadLinterTests.texts.map { #""\#($0)":1"# }.joined(separator: ",")
        let ignored = ["priority", "wake", "force", "html", "font", "width", "color", "haptic"]
            .map { #""\#($0)":1"# }.joined(separator: ",")
        let list = findings(#"{\#(ignored),"aps":{\#(ignored),"alert":{\#(ignored),\#(wrong)}}}"#)
        #expect(list.count == PayloadLinter.findingCountMax)
        #expect(list.count { $0.severity == .error } == Self.texts.count)
    }

    private static let texts = [
        "title", "subtitle", "body", "launch-image", "title-loc-key", "subtitle-loc-key", "loc-key", "loc-args",
    ]

    @Test func `one check reports one place once`() {
        let list = findings(#"{"aps":{"badge":1},"otp":1,"token":2,"secret":3}"#)
        #expect(list.map(\.check) == [.dataOrSecret])
    }

    @Test func `text checks ignore localization keys`() {
        let payload =
            #"{"aps":{"alert":{"title-loc-key":"your_error","loc-key":"click view","action-loc-key":"view.now"}}}"#
        #expect(findings(payload).map(\.check) == [])
    }

    @Test func `an app without a name has alerts without a title`() {
        #expect(findings(#"{"aps":{"alert":"Kim is here."}}"#, appName: "").map(\.check) == [.emptyTitle])
        #expect(PayloadLinter.findings(appName: "", events: []).map(\.check) == [.emptyTitle])
        #expect(PayloadLinter.findings(appName: "Mail", events: []).map(\.check) == [])
    }

    @Test func `an app's findings name the effects that its events leave out`() {
        let parts: [PayloadLinter.Parts] = [.alert, [.alert, .badge]]
        #expect(
            PayloadLinter.findings(appName: "Mail", events: parts).map(\.line) == [
                "W L-P07 event_types: Support badges, sounds and alerts: users choose which they want. Missing: sound."
            ])
        #expect(PayloadLinter.findings(appName: "Mail", events: parts + [.sound]) == [])
    }

    @Test(arguments: [(30_000, false, 0), (30_001, false, 1), (1, true, 1), (45_000, true, 1)])
    func `a sound must be short, and not one that is known already`(milliseconds: Int64, isKnown: Bool, count: Int) {
        let list = PayloadLinter.findings(soundMilliseconds: milliseconds, isKnown: isKnown)
        #expect(list.map(\.check) == Array(repeating: .soundFile, count: count))
    }

    @Test(arguments: [true, false], [true, false])
    func `Cancel is on the right when the action is destructive, else on the left`(isRight: Bool, isDestructive: Bool) {
        let cancel = PayloadLinter.Button("Cancel", isCancel: true)
        let delete = PayloadLinter.Button("Delete")
        let list = PayloadLinter.findings(
            buttons: isRight ? [delete, cancel] : [cancel, delete], isDestructive: isDestructive)
        #expect(list.map(\.check) == (isRight == isDestructive ? [] : [.cancelPlace]))
        #expect(
            PayloadLinter.findings(buttons: [cancel, cancel], isDestructive: isDestructive).map(\.check) == [
                .cancelPlace
            ])
        #expect(
            PayloadLinter.findings(buttons: [delete, delete], isDestructive: isDestructive).map(\.check) == [
                .cancelPlace
            ])
    }

    @Test func `our own alerts have one or two buttons with good titles`() {
        func checks(_ labels: [String]) -> [PayloadCheck] {
            let buttons = labels.enumerated().map { PayloadLinter.Button($1, isCancel: $0 == 0) }
            return PayloadLinter.findings(buttons: buttons, isDestructive: false).map(\.check)
        }
        #expect(checks([]) == [.buttonCount])
        #expect(checks(["OK"]) == [.singleButton])
        #expect(checks(["Cancel", "View"]) == [])
        #expect(checks(["A", "B", "C"]) == [.buttonCount])
        #expect(
            checks(["No", "yes, view my report!"]) == [
                .yesOrNo, .wordyLabel, .punctuatedLabel, .labelCapitals, .pronounInLabel, .wideLabel,
            ])
        #expect(checks([#"C:\new"#, "OK"]) == [])
    }
}
