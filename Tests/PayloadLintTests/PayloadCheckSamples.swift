// SPDX-License-Identifier: Apache-2.0

@testable import PayloadLint
import PushCore
import Testing

/// A payload that triggers a check, and one that differs as little as possible and triggers nothing.
struct CheckSample: Sendable, CustomTestStringConvertible {
    var check: PayloadCheck
    var firing: String
    var clean: String
    var pushType: PushType? = .alert
    var appName: String?
    var testDescription: String { "\(check.rawValue) \(firing)" }

    init(_ check: PayloadCheck, _ firing: String, _ clean: String, _ pushType: PushType? = .alert, app: String? = nil) {
        self.check = check
        self.firing = firing
        self.clean = clean
        self.pushType = pushType
        appName = app
    }

    /// Makes a sample from two bodies.
    static func body(_ check: PayloadCheck, _ firing: String, _ clean: String, app: String? = nil) -> CheckSample {
        CheckSample(check, #"{"aps":{"alert":"\#(firing)"}}"#, #"{"aps":{"alert":"\#(clean)"}}"#, app: app)
    }

    /// Makes a sample from two titles.
    static func title(_ check: PayloadCheck, _ firing: String, _ clean: String) -> CheckSample {
        func payload(_ title: String) -> String {
            #"{"aps":{"alert":{"title":"\#(title)","body":"Kim finished the report."}}}"#
        }
        return CheckSample(check, payload(firing), payload(clean))
    }

    /// Makes a sample from two labels of the button.
    static func label(_ check: PayloadCheck, _ firing: String, _ clean: String) -> CheckSample {
        func payload(_ label: String) -> String {
            #"{"aps":{"alert":{"body":"Kim finished the report.","action-loc-key":"\#(label)"}}}"#
        }
        return CheckSample(check, payload(firing), payload(clean))
    }

    /// Makes a sample from two values of `aps`.
    static func aps(
        _ check: PayloadCheck, _ firing: String, _ clean: String, _ pushType: PushType? = .alert
    ) -> CheckSample {
        CheckSample(check, #"{"aps":\#(firing)}"#, #"{"aps":\#(clean)}"#, pushType)
    }
}

extension CheckSample {
    static let all = payloads + titles + messages + contents + buttons + badgesAndSounds + kinds + keys

    private static let sixtyFour = String(repeating: "a", count: 64)
    private static let sixtyThree = String(repeating: "a", count: 63)
    /// Returns an object of this size, whose text has spaces so that it does not look like encoded data.
    private static func object(_ byteCount: Int) -> String {
        #"{"x":"\#(String(repeating: "a ", count: (byteCount - 8) / 2))\#(byteCount.isMultiple(of: 2) ? "" : "b")"}"#
    }

    static let payloads: [CheckSample] = [
        CheckSample(.nothingToShow, "{}", #"{"aps":{"badge":0}}"#),
        CheckSample(.nothingToShow, #"{"mdm":"x"}"#, #"{"aps":{"content-available":1},"mdm":"x"}"#),
        .aps(.nothingToShow, "{}", #"{"sound":"default"}"#),
        .aps(.nothingToShow, #"{"content-available":0}"#, #"{"content-available":1}"#),
        .aps(.nothingToShow, #"{"alert":null}"#, #"{"alert":"Kim is here."}"#, nil),
        CheckSample(.dataOrSecret, #"{"aps":{"badge":1},"otp":"123456"}"#, #"{"aps":{"badge":1},"opt":"123456"}"#),
        CheckSample(
            .dataOrSecret, #"{"aps":{"badge":1},"a":[{"Password":1}]}"#, #"{"aps":{"badge":1},"a":["password"]}"#),
        CheckSample(
            .dataOrSecret, #"{"aps":{"badge":1},"id":"\#(sixtyFour)"}"#, #"{"aps":{"badge":1},"id":"\#(sixtyThree)"}"#),
        CheckSample(
            .dataOrSecret, #"{"aps":{"badge":1},"id":["\#(sixtyFour)"]}"#,
            #"{"aps":{"badge":1},"id":["\#(sixtyThree) "]}"#),
        CheckSample(
            .dataOrSecret, #"{"aps":{"badge":1},"id":"\/\#(sixtyThree)"}"#,
            #"{"aps":{"badge":1},"id":"\n\#(sixtyThree)"}"#),
        CheckSample(
            .dataOrSecret, #"{"aps":{"badge":1},"o":\#(object(257))}"#, #"{"aps":{"badge":1},"o":\#(object(256))}"#),
        .aps(.dataOrSecret, #"{"badge":1,"thread-id":"\#(sixtyFour)"}"#, #"{"badge":1,"thread-id":"\#(sixtyThree)"}"#),
        CheckSample(
            .forcedAttention, #"{"aps":{"badge":1},"priority":"critical"}"#,
            #"{"aps":{"badge":1},"task":{"priority":"critical"}}"#),
        .aps(.forcedAttention, #"{"badge":1,"Wake":true}"#, #"{"sound":{"critical":1,"name":"bell"}}"#),
        .aps(.layout, #"{"alert":{"body":"Kim is here.","align":"left"}}"#, #"{"alert":{"body":"Kim is here."}}"#),
        CheckSample(.layout, #"{"aps":{"badge":1},"html":"x"}"#, #"{"aps":{"badge":1},"look":{"html":"x"}}"#),
    ]

    static let titles: [CheckSample] = [
        .title(.emptyTitle, "", "Backup Finished"), .title(.emptyTitle, #" \t"#, "Backup Finished"),
        .title(.oneWordTitle, "Error", "Disk Error"), .title(.oneWordTitle, "“Warning!”", "Warning: Disk Full"),
        .title(.oneWordTitle, "錯誤", "磁碟錯誤"), .title(.oneWordTitle, "警告！", "備份警告！"),
        .title(.longTitle, "The Backup of Every Office Computer Has Finished", "Every Office Computer Is Off"),
        .title(.longTitle, "一二三四五六七八九十一二三四五", "一二三四五六七八九十一二三四"),
        .title(.longTitle, #"One Line\nTwo Lines"#, "One Line and No More"),
        .title(.punctuatedTitle, "Backup Finished.", "Backup Finished"),
        .title(.punctuatedTitle, "Backup Finished…", "Backup Finished?"),
        .title(.punctuatedTitle, "備份完成。", "備份完成"), .title(.punctuatedTitle, "Mail:", "Mail from Kim"),
        .title(.titleCapitals, "backup finished", "Backup Finished"),
        .title(.titleCapitals, "Nginx failed", "nginx.service Failed on db.example.org"),
        .title(.titleCapitals, "Backup Has finished", "Backup of the iPhone and 3d Printers"),
        .title(.titleCapitals, "Backup Of The Disk", "Backup Of the Disk"),
        .title(.titleCapitals, "Backup finished", "Sicherung ist beendet"),
        .title(.titleCapitals, "Backup finished", "Sicherung für heute"),
        .title(.titleCapitals, "Backup finished", "Backup finished; 備份完成"),
        .title(.titleQuestion, "Should the backup restart", "Should the backup restart?"),
        .title(.titleQuestion, "Delete This Draft Later?", "Delete this draft later?"),
        .title(.titleQuestion, "Keep These Drafts?", "Keep This One?"),
        .title(.pronounInTitle, "Your Backup Failed", "Backup of Yours Failed"),
        .title(.pronounInTitle, "What Am I Doing", "Windows i and ii Closed"),
        .title(.pronounInTitle, "你的備份失敗", "我們的備份失敗"), .title(.pronounInTitle, "我的備份", "自我檢查"),
        .title(.titleSentences, "Backup failed. Disk is full", "Backup 2.5 Failed"),
        .title(.titleSentences, "Backup failed. Disk is full.", "Mail from Dr. Kim"),
        .title(.titleSentences, "備份失敗。磁碟已滿。", "備份失敗"),
        .title(.titleSentences, "Really?! Yes", "Pictures, e.g. Cats"),
    ]

    static let messages: [CheckSample] = [
        .body(
            .longMessage, String(repeating: "abcd ", count: 20) + ".", String(repeating: "abcd ", count: 15) + "end."),
        .body(.longMessage, String(repeating: "字", count: 41) + "。", String(repeating: "字", count: 39) + "。"),
        .body(.longMessage, #"One.\nTwo.\nThree."#, #"One.\nTwo."#),
        .body(.unfinishedMessage, "Kim finished the report", "Kim finished the report."),
        .body(.unfinishedMessage, "Kim said “Report”", "Kim said “Done.”"),
        .body(.unfinishedMessage, "Kim 完成了報告", "Kim 完成了報告。"),
        .body(.unfinishedMessage, "Kim finished…", "Did Kim finish? "),
        .body(.smallBeginning, "kim finished the report.", "eBay has the report."),
        .body(.smallBeginning, "“kim” finished it.", "3 reports are finished."),
        .body(.capitalizedMessage, "Kim Finished The Quarterly Report.", "Kim finished The Quarterly Report."),
        .body(.capitalizedMessage, "Kim Finished The Quarterly Report.", "Kim Finished The Report."),
        .body(.shoutedMessage, "SERVER ROOM TOO HOT.", "SERVER room TOO HOT."),
        .body(.shoutedMessage, "TOO HOT.", "HOT: 50 °."),
        .body(.pronounInMessage, "You have two new tasks.", "There are two new tasks."),
        .body(.pronounInMessage, "Am I late to this?", "I/O errors are rare."),
        .body(.pronounInMessage, "你有兩個新任務。", "有兩個新任務。"),
        .body(.emptyMessage, "", "Kim is here."), .body(.emptyMessage, "Hi.", "Hi there."),
        .body(.emptyMessage, "新郵件", "新郵件來"), .body(.emptyMessage, "!!!", "Kim is here!"),
        .aps(.emptyMessage, #"{"alert":{}}"#, #"{"alert":{"title":"Backup Finished"}}"#),
        .aps(.emptyMessage, #"{"alert":{"title":" "}}"#, #"{"alert":{"loc-key":"NEW_MAIL"}}"#),
        .aps(.emptyMessage, #"{"alert":{"title":"Two Words","body":""}}"#, #"{"alert":{"title-loc-key":"NEW_MAIL"}}"#),
        .body(.repeatedAppName, "Mail has two new messages.", "Mailing lists have two new messages.", app: "Mail"),
        .body(.repeatedAppName, "微信有新訊息。", "有新訊息。", app: "微信"),
        .body(.repeatedAppName, #"\u004dail: two new messages."#, "New mail has come.", app: "mail"),
        .body(
            .scrolling, Array(repeating: "Line.", count: 10).joined(separator: #"\n"#),
            Array(repeating: "Line.", count: 9).joined(separator: #"\n"#)),
    ]

    static let contents: [CheckSample] = [
        .body(.normalProgress, "Downloading photos: 40%", "Downloads of photos: 1400%"),
        .body(.normalProgress, "The backup is 91% complete.", "The backup is 1910% complete."),
        .title(.normalProgress, "Backup 91% Done", "Disk 91% full on db1"),
        .title(.normalProgress, "Installing: 5%", "Battery at 5%"),
        .body(.normalProgress, "Done: 7 %.", "Buy it: 7% off."), .body(.normalProgress, "Step 3 of 5.", "Step 3 or 5."),
        .body(.normalProgress, "The backup is in progress.", "The progress is in."),
        .body(.normalProgress, "Is it still running?", "Is it still or running?"),
        .body(.normalProgress, "相片正在下載。", "相片下載完成。"), .title(.normalProgress, "備份进行中", "備份完成"),
        .body(
            .confirmation, "Are you sure you want to delete this contact?",
            "Are you sure?".replacing("sure", with: "there")),
        .body(.confirmation, "Delete the draft?", "Kim wants to delete the draft."),
        .body(.confirmation, "確定要刪除嗎？", "已經刪除了。"), .body(.confirmation, "是否删除草稿？", "草稿已删除。"),
        .body(.connectionTrouble, "Could not connect to the mail server.", "Could not find the mail server."),
        .body(.connectionTrouble, "The app can’t reach the server.", "The app can reach the server."),
        .body(.connectionTrouble, "Failed to synchronize.", "Failed to start."),
        .body(.connectionTrouble, "Unable to connect.", "Able to connect."),
        .body(.connectionTrouble, "無法連接伺服器。", "已經連接伺服器。"),
        .body(.explainedButton, "Click View to see the report.", "The view of the report is here."),
        .body(.explainedButton, "Tap on the “View” to see it.", "Tap into the view to see it."),
        .body(.explainedButton, "Press the red button.", "Press the big red round button."),
        .body(.explainedButton, "點選「查看」看報告。", "點選報告，查看。"),
        .body(.explainedButton, "請按OK繼續。", "請按右鍵，OK。"),
        .body(.quotedLabel, "Tap “View” to see the report.", "Tap View to see the report."),
        .body(.quotedLabel, "Tap view to see the report.", "The view is fine."),
        .body(.quotedLabel, "It says 'OK' here.", "It says OK, Kim's here."),
        .body(.quotedLabel, "選「取消」。", "選取消。"),
        .body(.advertising, "Buy now: 20% off all plans.", "Buy it now."),
        .body(.advertising, "The summer sale has begun.", "The summer sales have begun."),
        .body(.advertising, "New promotion codes are here.", "New prom codes are here."),
        .body(.advertising, "Two coupons and discounts.", "Two coupes and discs."),
        .body(.advertising, "This is a special offer.", "This offer is special."),
        .body(.advertising, "限時優惠開始了。", "優先處理開始了。"),
        .body(.technicalTerm, "Sync stopped with 0x80070005.", "Sync stopped with 10 files."),
        .body(.technicalTerm, "The server said HTTP 503.", "The server said HTTP 303."),
        .body(.technicalTerm, "It ended with error: 404.", "It ended with error 4040."),
        .body(.technicalTerm, "It ended with Error404.", "It ended with Area404."),
        .body(.technicalTerm, "There was an exception.", "There was an exceptional day."),
        .body(.technicalTerm, "Here is a stack trace.", "Here is a stack of traces."),
    ]

    static let buttons: [CheckSample] = [
        .aps(
            .buttonCount, #"{"alert":{"body":"Kim is here.","buttons":["A","B","C"]}}"#,
            #"{"alert":{"body":"Kim is here.","buttons":["A","B"]}}"#),
        .aps(.buttonCount, #"{"badge":1,"actions":[]}"#, #"{"badge":1,"actions":[{"a":[1,2,3]}]}"#),
        .aps(
            .singleButton, #"{"alert":{"body":"Kim is here.","action-loc-key":null}}"#, #"{"alert":"Kim is here."}"#),
        .label(.wordyLabel, "View the Report", "View Report"), .label(.punctuatedLabel, "View!", "View"),
        .label(.punctuatedLabel, "查看。", "查看"), .label(.labelCapitals, "view report", "View Report"),
        .label(.labelCapitals, "view", "view_report"), .label(.yesOrNo, "Yes", "OK"), .label(.yesOrNo, "no", "Not Now"),
        .label(.yesOrNo, "否", "否認"), .label(.pronounInLabel, "My Tasks", "Tasks"),
        .label(.wideLabel, "Wiederherstellungsvorgang", "Wiederherstell"),
        .label(.wideLabel, "一二三四五六七八", "一二三四五六七"),
    ]

    static let badgesAndSounds: [CheckSample] =
        [#""3""#, "-1", "2.5", #""9+""#, "true", "1e1", "4294967296", "[1]", #"{"count":3}"#, #""1,000""#].map {
            .aps(.badge, #"{"badge":\#($0)}"#, #"{"badge":4294967295}"#)
        } + [
            .aps(.badge, #"{"badge":"3"}"#, #"{"badge":0}"#, .mdm),
            .aps(.badgeLook, #"{"badge":{"count":3,"color":"blue"}}"#, #"{"badge":3}"#),
            .aps(.badgeLook, #"{"badge":3,"badgeColor":"blue"}"#, #"{"badge":3,"colour":"blue"}"#),
            CheckSample(
                .vibration, #"{"aps":{"badge":1},"vibrate":true}"#, #"{"aps":{"badge":1},"phone":{"vibrate":true}}"#),
            .aps(
                .vibration, #"{"sound":{"name":"bell","haptic":1},"badge":1}"#, #"{"sound":{"name":"bell"},"badge":1}"#),
            CheckSample(
                .soundWhenSilenced, #"{"aps":{"badge":1},"ignoreSilent":true}"#,
                #"{"aps":{"badge":1},"ignoreSilent":false}"#),
            .aps(.soundWhenSilenced, #"{"badge":1,"volume":1}"#, #"{"badge":1,"volume":0}"#),
            .aps(.soundWhenSilenced, #"{"badge":1,"mode":"Alarm"}"#, #"{"badge":1,"sound":"alarm"}"#),
            .aps(
                .soundWhenSilenced, #"{"badge":1,"sound":{"alarm":1}}"#,
                #"{"badge":1,"sound":{"critical":1,"name":"a","volume":1}}"#),
            .aps(.soundAlone, #"{"sound":"Bell"}"#, #"{"sound":"Bell","badge":1}"#),
            .aps(.soundAlone, #"{"sound":"Bell"}"#, #"{"sound":"Bell","alert":"Kim is here."}"#),
        ]

    static let kinds: [CheckSample] = [
        CheckSample(.malformed, #"{"aps":{"alert":"Hi}}"#, #"{"aps":{"alert":"Hi there."}}"#),
        CheckSample(.malformed, "[]", "{}"), CheckSample(.malformed, "", "{}", .mdm),
        CheckSample(.tooLarge, filled(4097), filled(4096)), CheckSample(.tooLarge, filled(4097), filled(4096), nil),
        CheckSample(.tooLarge, filled(5121), filled(5120), .voip),
        CheckSample(.apsType, #"{"aps":"x"}"#, "{}"), CheckSample(.apsType, #"{"aps":[]}"#, #"{"aps":{}}"#),
        CheckSample(.apsType, #"{"aps":null}"#, #"{"aps":{}}"#, .background),
        .aps(.alertType, #"{"alert":5}"#, #"{"alert":null}"#), .aps(.alertType, #"{"alert":true}"#, #"{"alert":{}}"#),
        .aps(.alertType, #"{"alert":["x"]}"#, #"{"alert":"x"}"#, .voip),
        .aps(.textType, #"{"alert":{"title":5}}"#, #"{"alert":{"title":"5"}}"#),
        .aps(.textType, #"{"alert":{"body":true}}"#, #"{"alert":{"body":null}}"#),
        .aps(.textType, #"{"badge":1,"thread-id":7}"#, #"{"badge":1,"thread-id":"7"}"#),
        .aps(.textType, #"{"badge":1,"category":[]}"#, #"{"badge":1,"category":"a"}"#),
        .aps(.textType, #"{"alert":{"title":{"loc-key":1}}}"#, #"{"alert":{"title":"a"}}"#),
        .aps(.textType, #"{"alert":{"subtitle":{}}}"#, #"{"alert":{"title":{"loc-key":"x"}}}"#, .liveactivity),
        .aps(
            .argumentsType, #"{"alert":{"loc-key":"a","loc-args":[1]}}"#, #"{"alert":{"loc-key":"a","loc-args":["1"]}}"#
        ),
        .aps(.argumentsType, #"{"alert":{"loc-args":"1"}}"#, #"{"alert":{"loc-args":[ "1" , "a]" ]}}"#),
        .aps(.argumentsType, #"{"alert":{"title-loc-args":["a",null]}}"#, #"{"alert":{"title-loc-args":[]}}"#),
        .aps(.soundType, #"{"sound":1}"#, #"{"sound":"1"}"#), .aps(.soundType, #"{"sound":true}"#, #"{"sound":{}}"#),
        .aps(.flagValue, #"{"content-available":"1"}"#, #"{"content-available":1}"#),
        .aps(.flagValue, #"{"content-available":true}"#, #"{"content-available":0}"#, .background),
        .aps(.flagValue, #"{"mutable-content":2}"#, #"{"mutable-content":1}"#),
        .aps(.flagValue, #"{"sound":{"critical":true}}"#, #"{"sound":{"critical":1}}"#),
        .aps(.interruptionLevel, #"{"interruption-level":"urgent"}"#, #"{"interruption-level":"time-sensitive"}"#),
        .aps(.interruptionLevel, #"{"interruption-level":1}"#, #"{"interruption-level":"passive"}"#),
        .aps(.relevanceScore, #"{"relevance-score":1.01}"#, #"{"relevance-score":1}"#),
        .aps(.relevanceScore, #"{"relevance-score":"1"}"#, #"{"relevance-score":0.5e0}"#),
        .aps(.relevanceScore, #"{"relevance-score":-0.1}"#, #"{"relevance-score":-0.0}"#),
        .aps(.relevanceScore, #"{"relevance-score":true}"#, #"{"relevance-score":75}"#, .liveactivity),
        .aps(.numberType, #"{"timestamp":"1"}"#, #"{"timestamp":1}"#, .liveactivity),
        .aps(.objectType, #"{"content-state":"1"}"#, #"{"content-state":{}}"#, .liveactivity),
    ]

    static let keys: [CheckSample] = [
        .aps(.misspelledKey, #"{"allert":"Hi"}"#, #"{"alert":"Hi"}"#),
        .aps(.misspelledKey, #"{"bagde":1}"#, #"{"beige":1}"#),
        .aps(.misspelledKey, #"{"Sound":"a"}"#, #"{"sound":"a"}"#),
        .aps(.misspelledKey, #"{"thread_id":"a"}"#, #"{"thread":"a"}"#, .background),
        .aps(.misspelledKey, #"{"contentAvailable":1}"#, #"{"content":1}"#),
        .aps(.misspelledKey, #"{"alert":{"boddy":"Hi"}}"#, #"{"alert":{"bo":"Hi"}}"#),
        CheckSample(.misspelledKey, #"{"asp":{"badge":1}}"#, #"{"app":{"badge":1}}"#),
        CheckSample(.misspelledKey, #"{"APS":{"badge":1}}"#, #"{"APS":1}"#),
        .aps(.misplacedKey, #"{"title":"Hi"}"#, #"{"alert":{"title":"Hi"}}"#),
        CheckSample(.misplacedKey, #"{"badge":1}"#, #"{"aps":{"badge":1}}"#),
        CheckSample(.misplacedKey, #"{"alert":"Hi"}"#, #"{"alerts":"Hi"}"#),
        CheckSample(.badLink, #"{"url":"http://example.org"}"#, #"{"url":"https://example.org"}"#),
        CheckSample(.badLink, #"{"url":"/lunch"}"#, #"{"URL":"/lunch"}"#),
        CheckSample(.badLink, #"{"url":"https://a@example.org"}"#, #"{"url":"https://example.org/a@"}"#),
        CheckSample(.badLink, #"{"url":1}"#, #"{"url":null}"#),
        CheckSample(
            .badPicture, #"{"attachment-url":"mail:1"}"#, #"{"attachment-url":"https:\/\/example.org\/a.png"}"#),
        CheckSample(.badPicture, #"{"attachment-path":"/a.png"}"#, #"{"attachment-path":null}"#),
    ]

    /// Returns a payload of this size.
    private static func filled(_ byteCount: Int) -> String {
        let frame = #"{"aps":{"badge":1},"x":""}"#
        return frame.dropLast(2) + String(repeating: "a ", count: (byteCount - frame.utf8.count) / 2)
            + String(repeating: "b", count: (byteCount - frame.utf8.count) % 2) + "\"}"
    }
}
