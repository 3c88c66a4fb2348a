// SPDX-License-Identifier: Apache-2.0

@testable import PayloadLint
internal import PushCore

/// Generates docs/reference/payload-checks.md from `PayloadCheck.allCases` and the descriptions below.
enum PayloadChecksPage {
    static func render() -> String {
        """
        # Payload checks

        <!-- Made from PayloadCheck by `make pages`. -->

        `posthorn lint` and `posthorn send --lint` make these checks. The server makes them for apps whose `checks` are
        `warn` or `strict`. With `warn`, it checks the first \(Limits.lintedPayloadsPerHourCount) payloads of an app in
        each hour (for each loop), and every payload sent with the field `posthorn-lint: 1`. An answer with status 200
        lists findings of severity E and W in `posthorn-warning` fields. With `strict`, the server checks every payload,
        and a finding of severity E also rejects the notification. [Check a payload](../how-to/check-a-payload.md) has
        examples.

        E is an error: the notification cannot be shown as intended. W is a warning: the notification annoys users, or a
        part of the payload has no effect. I is advice. A payload has at most \(PayloadLinter.findingCountMax) findings;
        those of higher severity are kept.

        The column *For* has the push types to which a check applies. *shown* means `alert`, `background`,
        `liveactivity` and no push type. *alert* means `alert` and no push type. *all* means every push type. L-P01
        does not report notifications that are meant to show nothing. These have another push type, or
        `content-available` 1, or neither `aps` nor a push type.

        ## Visible and audible parts

        \(table(of: PayloadCheck.allCases.filter { !$0.isAboutKeys }))

        ## Keys that APNs defines

        For L-K03 to L-K12, the column *Finds* has the keys whose type or value is checked. A null value counts as
        absent. If a key occurs twice, the last one counts, as on devices.

        \(table(of: PayloadCheck.allCases.filter(\.isAboutKeys)))

        ## Terms

        - The *title* is `aps.alert.title`. The *message* is `aps.alert.body`, or `aps.alert` itself. The *button* is
          `aps.alert.action-loc-key` or `aps.alert.action`. The texts of translation keys (`loc-key` and similar keys,
          and a label such as `VIEW_REPORT`) are not checked, because only devices know them. For the subtitle, only the
          type is checked.
        - *Columns*: an East Asian character takes two columns, any other character one. A line of a title has
          \(PayloadLinter.titleColumnCount) columns, a line of a message \(PayloadLinter.messageColumnCount), and a
          button \(PayloadLinter.labelColumnCount). An alert shows \(PayloadLinter.portraitLineCount) lines on a
          portrait screen and \(PayloadLinter.landscapeLineCount) on a landscape screen.
        - *Words* are separated by spaces; East Asian texts have no words. A *sentence* ends with `.` `!` `?` or `…`
          before a space, a closing quotation mark or the end, and with `。` `！` `？` anywhere. `e.g.`, `i.e.`, `Mr.`,
          `Mrs.`, `Dr.` and `vs.` do not end a sentence.
        - *English* is a text of Latin letters without diacritics and without frequent words of other languages. Words
          with capitals or digits inside (iPhone, 3D) may begin with any letter.
        - *Short words* begin with a lowercase letter inside a title: `a an the and but for nor or so yet`. These may begin
          with either: `as at by in of off on per to up via out down from into like near onto over past than upon with`.
        - A *label* is View, Close, OK, Cancel, 查看, 關閉, 关闭, 確定, 确定 or 取消.
        - Keys that request something are searched for beside `aps`, in `aps`, in `alert` and in `sound`. Deeper values
          are the app's own data, which is only checked for secrets and encoded data.

        """
    }

    private static func table(of checks: [PayloadCheck]) -> String {
        let rows = checks.map { check in
            "| \(check.rawValue) | \(severity(of: check)) | \(check.scope) | \(check.subject) | \(check.exampleCell) "
                + "| \(check.sentence) |"
        }
        return (["| Check | Severity | For | Finds | Example | Message |", "|---|---|---|---|---|---|"] + rows)
            .joined(separator: "\n")
    }

    private static func severity(of check: PayloadCheck) -> String {
        check == .emptyMessage ? "E, W" : check.severity.rawValue
    }
}

extension PayloadCheck {
    fileprivate var isAboutKeys: Bool { rawValue.hasPrefix("L-K") }

    fileprivate var exampleCell: String {
        switch example {
        case .payload(let payload): "`\(payload)`"
        case .words(let words): words
        }
    }

    /// A payload that triggers a check, or a description of such a payload in words.
    enum Example {
        case payload(String)
        case words(String)

        static func body(_ text: String) -> Example { .payload(#"{"aps":{"alert":"\#(text)"}}"#) }

        static func title(_ text: String) -> Example { .payload(#"{"aps":{"alert":{"title":"\#(text)"}}}"#) }

        static func label(_ text: String) -> Example {
            .payload(#"{"aps":{"alert":{"body":"Kim is here.","action-loc-key":"\#(text)"}}}"#)
        }

        static func aps(_ members: String) -> Example { .payload(#"{"aps":{\#(members)}}"#) }
    }

    var example: Example { documentation.example }

    fileprivate var subject: String { documentation.subject }
}

/// Describes each check and gives an example.
///
/// A check without an entry stops the test.
extension PayloadCheck {
    private static let documentation = [ofPayload, ofTitle, ofMessage, ofButtonsAndSounds, ofKeys].reduce(into: [:]) {
        $0.merge($1) { entry, _ in entry }
    }

    private var documentation: (subject: String, example: Example) {
        guard let entry = Self.documentation[self] else { preconditionFailure("say what \(rawValue) looks at") }
        return entry
    }

    private static let ofPayload: [PayloadCheck: (subject: String, example: Example)] = [
        .nothingToShow: ("no badge, sound or alert", .payload("{}")),
        .tooManyAlerts:
            (
                "more than \(PayloadHistory.alertsPerHourCountMax) alerts of one app on one device within an hour; "
                    + "reported once", .words("the fifth alert within an hour")
            ),
        .repeatedAlert:
            (
                "an alert with the same texts as one in the last \(PayloadHistory.repeatSeconds / 60) minutes",
                .words("the same alert after two minutes")
            ),
        .normalProgress:
            (
                "in title or message: downloading, uploading, in progress, still running, step 1 of 2, or a percentage "
                    + "with a word such as done, complete, installing or syncing; 正在下載, 正在下载, 進行中, 进行中",
                .body("Downloading photos: 40%")
            ),
        .dataOrSecret:
            (
                "a key named password, token, secret or otp; a string of \(PayloadLinter.secretByteCountMin) or more "
                    + "bytes of base64; a custom object of more than \(PayloadLinter.customObjectByteCountMax) bytes",
                .payload(#"{"otp":"123456"}"#)
            ),
        .forcedAttention:
            ("a key named priority, critical, force, override or wake", .payload(#"{"priority":"critical"}"#)),
        .unsupportedPart:
            (
                "at registration: badge, sound or alert that no event type uses",
                .words("event types with alert only")
            ),
        .layout:
            (
                "a key named width, height, align, colour, color, background, html or font",
                .aps(#""alert":{"body":"Kim is here.","align":"left"}"#)
            ),
        .confirmation:
            (
                "in title or message: are you sure; a question with delete, remove, erase or discard; 確定要, 确定要, "
                    + "是否刪除, 是否删除", .body("Are you sure you want to delete this contact?")
            ),
        .connectionTrouble:
            (
                "in title or message: could not, cannot, can't, unable to or failed to, and connect, reach or sync; "
                    + "無法連接, 无法连接, 連接失敗, 连接失败", .body("Could not connect to the mail server.")
            ),
    ]

    private static let ofTitle: [PayloadCheck: (subject: String, example: Example)] = [
        .emptyTitle: ("an empty title, or an app without a name", .title("")),
        .oneWordTitle: ("one word; 錯誤, 错误, 警告, 注意, 提示", .title("Error")),
        .longTitle:
            (
                "more columns than a line has", .title("The Backup of Every Office Computer Has Finished")
            ),
        .punctuatedTitle:
            ("one sentence, not a question, that ends with `.` `!` `…` `,` `;` or `:`", .title("Backup Finished.")),
        .titleCapitals:
            (
                "English, one sentence, not a question: a lowercase word that is neither a short word nor a name "
                    + "such as nginx.service",
                .title("backup finished")
            ),
        .titleQuestion:
            (
                "English: a word such as what or should at the beginning, but no question mark at the end; a question "
                    + "in which every long word begins with a capital", .title("Should the backup restart")
            ),
        .pronounInTitle: ("you, your, I, my; 你, 我", .title("Your Backup Failed")),
        .titleSentences: ("two or more sentences", .title("Backup failed. Disk is full")),
    ]

    private static let ofMessage: [PayloadCheck: (subject: String, example: Example)] = [
        .longMessage:
            (
                "more than two lines",
                .body("Kim finished the quarterly report of the whole department and shared it with everybody today.")
            ),
        .unfinishedMessage: ("no `.` `!` `?` `。` `！` or `？` at the end", .body("Kim finished the report")),
        .smallBeginning: ("a lowercase letter at the beginning", .body("kim finished the report.")),
        .capitalizedMessage:
            (
                "English: three or more long words, all of which begin with a capital",
                .body("Kim Finished The Quarterly Report.")
            ),
        .shoutedMessage: ("two or more words, no lowercase letter", .body("SERVER ROOM TOO HOT.")),
        .pronounInMessage: ("you, your, I, my; 你, 我", .body("You have two new tasks.")),
        .explainedButton:
            (
                "in title or message: tap, press, touch, click, choose or select before a label or a button; 點選, 点选, "
                    + "點擊, 点击, 輕擊, 轻击 or 按 before a label", .body("Click View to see the report.")
            ),
        .quotedLabel:
            (
                "in title or message: a label in quotation marks or with other capitalization",
                .body("Tap “View” to see the report.")
            ),
        .advertising:
            (
                "in title or message: 20% off, discount, sale, buy now, promo, coupon, limited time, free trial, special "
                    + "offer, upgrade now; 優惠, 优惠, 折扣, 促銷, 促销, 特價, 特价, 免費試用, 免费试用",
                .body("Buy now: 20% off all plans.")
            ),
        .technicalTerm:
            (
                "in title or message: numbers like 0x1F; http, error or status before 4xx or 5xx; exception, stack trace, "
                    + "errno, null, json, sql, uuid", .body("Sync stopped with 0x80070005.")
            ),
        .emptyMessage:
            (
                "E: no text, or an empty message; W: a message of one word, or of at most three East Asian characters",
                .body("")
            ),
        .repeatedAppName:
            ("a message that begins with the app's name", .words("`Mail has two new messages.` of the app Mail")),
        .scrolling:
            (
                "more lines than a screen shows",
                .body(Array(repeating: "A line.", count: 10).joined(separator: #"\n"#))
            ),
    ]

    private static let ofButtonsAndSounds: [PayloadCheck: (subject: String, example: Example)] = [
        .buttonCount:
            ("a key named buttons or actions without one or two elements", .aps(#""badge":1,"buttons":["A","B","C"]"#)),
        .singleButton: ("`action-loc-key` is null", .aps(#""alert":{"body":"Kim is here.","action-loc-key":null}"#)),
        .wordyLabel: ("more than two words", .label("View the Report")),
        .punctuatedLabel: ("`.` `!` `?` `…` or `:` at the end", .label("View!")),
        .labelCapitals: ("as L-T04", .label("view report")),
        .yesOrNo: ("Yes, No, 是, 否, 不", .label("Yes")),
        .pronounInLabel: ("you, your, I, my; 你, 我", .label("My Tasks")),
        .cancelPlace: (
            "in alerts of Posthorn's programs: Cancel left of a destructive button, or right of another one",
            .words("Cancel, Delete")
        ),
        .wideLabel: ("more columns than a button has", .label("Wiederherstellungsvorgang")),
        .badge: ("anything but a whole number from 0 to \(UInt32.max)", .aps(#""badge":"3""#)),
        .badgeLook:
            (
                "a badge that is an object; a key named badgeColor, badgeShape or badgeText",
                .aps(#""badge":{"count":3,"color":"blue"}"#)
            ),
        .vibration: ("a key named vibrate, vibration or haptic", .payload(#"{"vibrate":true}"#)),
        .soundFile:
            (
                "at installation: longer than \(PayloadLinter.soundMillisecondsMax / 1000) s, or the same as another sound",
                .words("a file of 45 s")
            ),
        .soundWhenSilenced:
            (
                "a key named alarm, ignoreSilent or volume that is not false or 0, except `critical` and `volume` of a "
                    + "sound; the string alarm or ignoreSilent under another key of `aps`",
                .payload(#"{"ignoreSilent":true}"#)
            ),
        .soundAlone: ("a sound without badge and alert", .aps(#""sound":"Bell""#)),
    ]

    private static let ofKeys: [PayloadCheck: (subject: String, example: Example)] = [
        .malformed: ("anything but one JSON object in UTF-8", .payload(#"{"aps":{"alert":"Hi}}"#)),
        .tooLarge: ("more bytes than the push type allows", .words("4097 bytes")),
        .apsType: ("`aps`", .payload(#"{"aps":"Hi"}"#)),
        .alertType: ("`alert`", .aps(#""alert":5"#)),
        .textType: ("the strings of `alert`; `thread-id`, `category` and similar keys", .aps(#""alert":{"title":5}"#)),
        .argumentsType: ("`loc-args` and similar keys, `url-args`", .aps(#""alert":{"loc-key":"A","loc-args":[1]}"#)),
        .soundType: ("`sound`", .aps(#""sound":1"#)),
        .flagValue:
            (
                "`content-available`, `mutable-content`, `input-push-token`, `critical`",
                .aps(#""content-available":"1""#)
            ),
        .interruptionLevel: ("`interruption-level`", .aps(#""badge":1,"interruption-level":"urgent""#)),
        .relevanceScore:
            ("`relevance-score`; with `liveactivity`, any number is valid", .aps(#""badge":1,"relevance-score":2"#)),
        .numberType:
            (
                "`timestamp`, `stale-date`, `dismissal-date`, `volume`, `summary-arg-count`",
                .aps(#""badge":1,"timestamp":"5""#)
            ),
        .objectType: ("`content-state`, `attributes`", .aps(#""badge":1,"content-state":"a""#)),
        .misspelledKey:
            (
                "a key in `aps`, `alert` or `sound` that differs from a known key by one typo",
                .aps(#""allert":"Hi there.""#)
            ),
        .misplacedKey:
            ("`alert`, `badge` or `sound` beside `aps`; a key of `alert` beside `alert`", .aps(#""title":"Hi""#)),
        .badLink:
            (
                "`url` beside `aps` that is not a complete URL of at most 2048 bytes, or has a user name or a scheme "
                    + "that is never opened, such as http, file, javascript or data",
                .payload(#"{"aps":{"badge":1},"url":"http://example.org"}"#)
            ),
        .badPicture:
            (
                "`attachment-url` beside `aps` that is not a complete https URL of at most 2048 bytes; "
                    + "`attachment-path`, which only an app's filter can set",
                .payload(#"{"aps":{"badge":1},"attachment-url":"/photo.png"}"#)
            ),
    ]
}
