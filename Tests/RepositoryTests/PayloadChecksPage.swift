// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Generates docs/reference/payload-checks.md from `PayloadCheck.allCases` and the descriptions below.
enum PayloadChecksPage {
    static func render() -> String {
        """
        # Payload checks

        <!-- Made from PayloadCheck by `make pages`. -->

        What `posthorn lint` and `posthorn send --lint` look for in a payload, and the server for apps whose `checks` are
        `warn` or `strict`. With `warn` findings of severity E and W go out in `posthorn-warning` fields beside the 200; with
        `strict` a finding of severity E refuses the notification. [Check a payload](../how-to/check-a-payload.md) shows how.

        E is an error: the notification cannot be shown as it is meant. W is a warning: people will be annoyed, or a part
        of the payload does nothing. I is advice. One payload has at most \(PayloadLinter.findingCountMax) findings; the
        graver ones stay.

        *For* says for which push types a check is made: *shown* are `alert`, `background`, `liveactivity` and none said;
        *alert* is `alert` and none said. What is silent by design is not told that it shows nothing: the other push types,
        `content-available` 1, and a payload without `aps` that comes without a push type.

        ## What people see and hear

        \(table(of: PayloadCheck.allCases.filter { !$0.isAboutKeys }))

        ## What APNs defines

        Null counts as left out. Of a key that comes twice the last one counts, as on devices.

        \(table(of: PayloadCheck.allCases.filter(\.isAboutKeys)))

        ## What words mean here

        - Title, message and button are `aps.alert.title`, `aps.alert.body` or `aps.alert` itself, and
          `aps.alert.action-loc-key` or `aps.alert.action`. A key of the app's translations (`loc-key` and its like, and a
          label such as `VIEW_REPORT`) is not judged: what it says, only devices know. Of the subtitle only the kind is.
        - *Columns*: an East Asian character has two, any other one. A title's line has \(PayloadLinter.titleColumnCount), a
          message's \(PayloadLinter.messageColumnCount), a button \(PayloadLinter.labelColumnCount). An alert has room for
          \(PayloadLinter.portraitLineCount) lines on a high screen and \(PayloadLinter.landscapeLineCount) on a wide one.
        - *Words* stand between blanks; East Asian texts have none. A *sentence* ends with `.` `!` `?` or `…` before a
          blank, a closing quotation mark or the end, and with `。` `！` `？` anywhere. `e.g.`, `i.e.`, `Mr.`, `Mrs.`, `Dr.`
          and `vs.` end none.
        - *English* is a text of Latin letters without marks and without frequent words of other languages. Words with
          capitals or digits inside (iPhone, 3D) may begin as they like.
        - *Short words* are a an the and but for nor or so yet, which begin small inside a title, and as at by in of off on
          per to up via out down from into like near onto over past than upon with, which may begin either way.
        - A *label* is View, Close, OK, Cancel, 查看, 關閉, 关闭, 確定, 确定 or 取消.
        - Keys that ask for something are looked for beside `aps`, in it, in `alert` and in `sound`, and not deeper: there
          the app's own data begins. Only secrets and encoded data are looked for everywhere.

        """
    }

    private static func table(of checks: [PayloadCheck]) -> String {
        let rows = checks.map { check in
            "| \(check.rawValue) | \(severity(of: check)) | \(check.scope) | \(check.subject) | \(check.exampleCell) "
                + "| \(check.sentence) |"
        }
        return (["| Check | | For | Finds | Example | Says |", "|---|---|---|---|---|---|"] + rows)
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
        .nothingToShow: ("neither badge nor sound nor alert", .payload("{}")),
        .tooManyAlerts:
            (
                "more than \(PayloadHistory.alertsPerHourCountMax) alerts of one app on one device within an hour",
                .words("the fifth alert within an hour")
            ),
        .repeatedAlert:
            (
                "an alert with the texts of one that was sent in the last \(PayloadHistory.repeatSeconds / 60) minutes",
                .words("the same alert after two minutes")
            ),
        .normalProgress:
            (
                "in title or message: a percentage, downloading, uploading, in progress, still running, step 1 of 2, "
                    + "正在下載, 正在下载, 進行中, 进行中", .body("Downloading photos: 40%")
            ),
        .dataOrSecret:
            (
                "a key password, token, secret or otp; a text of \(PayloadLinter.secretByteCountMin) or more bytes of "
                    + "Base64; an object of the app's own over \(PayloadLinter.customObjectByteCountMax) bytes",
                .payload(#"{"otp":"123456"}"#)
            ),
        .forcedAttention:
            ("a key priority, critical, force, override or wake", .payload(#"{"priority":"critical"}"#)),
        .unsupportedPart:
            (
                "at registration: event types that leave out badge, sound or alert",
                .words("events declared with alert only")
            ),
        .layout:
            (
                "a key width, height, align, colour, color, background, html or font",
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
        .emptyTitle: ("a title that is empty, or an app without a name", .title("")),
        .oneWordTitle: ("one word; 錯誤, 错误, 警告, 注意, 提示", .title("Error")),
        .longTitle:
            (
                "more columns than a line has", .title("The Backup of Every Office Computer Has Finished")
            ),
        .punctuatedTitle:
            ("one sentence that is no question and ends with `.` `!` `…` `,` `;` or `:`", .title("Backup Finished.")),
        .titleCapitals:
            (
                "English, one sentence, no question: a word that begins small and is no short word",
                .title("backup finished")
            ),
        .titleQuestion:
            (
                "English: a word like what or should at the beginning and no question mark at the end; a question of "
                    + "which every long word begins with a capital", .title("Should the backup restart")
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
        .smallBeginning: ("a small letter at the beginning", .body("kim finished the report.")),
        .capitalizedMessage:
            (
                "English: capitals at the beginning of three or more long words, and of all",
                .body("Kim Finished The Quarterly Report.")
            ),
        .shoutedMessage: ("two or more words and no small letter", .body("SERVER ROOM TOO HOT.")),
        .pronounInMessage: ("you, your, I, my; 你, 我", .body("You have two new tasks.")),
        .explainedButton:
            (
                "in title or message: tap, press, touch, click, choose or select before a label or a button; 點選, 点选, "
                    + "點擊, 点击, 輕擊, 轻击 or 按 before a label", .body("Click View to see the report.")
            ),
        .quotedLabel:
            (
                "in title or message: a label in quotation marks or in other capitals",
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
                "E: an alert without any text, or an empty message; W: a message of one word, or of three East Asian characters",
                .body("")
            ),
        .repeatedAppName:
            ("a message that begins with the app's name", .words("`Mail has two new messages.` of the app Mail")),
        .scrolling:
            (
                "more lines than a screen has room for",
                .body(Array(repeating: "A line.", count: 10).joined(separator: #"\n"#))
            ),
    ]

    private static let ofButtonsAndSounds: [PayloadCheck: (subject: String, example: Example)] = [
        .buttonCount:
            ("a key buttons or actions with neither one nor two elements", .aps(#""badge":1,"buttons":["A","B","C"]"#)),
        .singleButton: ("`action-loc-key` null", .aps(#""alert":{"body":"Kim is here.","action-loc-key":null}"#)),
        .wordyLabel: ("more than two words", .label("View the Report")),
        .punctuatedLabel: ("`.` `!` `?` `…` or `:` at the end", .label("View!")),
        .labelCapitals: ("as L-T04", .label("view report")),
        .yesOrNo: ("Yes, No, 是, 否, 不", .label("Yes")),
        .pronounInLabel: ("you, your, I, my; 你, 我", .label("My Tasks")),
        .cancelPlace: ("in alerts of our own: where the button Cancel stands", .words("Cancel, Delete")),
        .wideLabel: ("more columns than a button has", .label("Wiederherstellungsvorgang")),
        .badge: ("anything but a whole number from 0 to \(UInt32.max)", .aps(#""badge":"3""#)),
        .badgeLook:
            (
                "an object as badge; a key badgeColor, badgeShape or badgeText",
                .aps(#""badge":{"count":3,"color":"blue"}"#)
            ),
        .vibration: ("a key vibrate, vibration or haptic", .payload(#"{"vibrate":true}"#)),
        .soundFile:
            (
                "at installation: longer than \(PayloadLinter.soundMillisecondsMax / 1000) s, or the same as another sound",
                .words("a file of 45 s")
            ),
        .soundWhenSilenced:
            (
                "a key alarm, ignoreSilent or volume that is not false or 0, `critical` and `volume` of a sound excepted; the "
                    + "text alarm or ignoreSilent under another key of `aps`", .payload(#"{"ignoreSilent":true}"#)
            ),
        .soundAlone: ("a sound without badge and alert", .aps(#""sound":"Bell""#)),
    ]

    private static let ofKeys: [PayloadCheck: (subject: String, example: Example)] = [
        .malformed: ("anything but one JSON object in UTF-8", .payload(#"{"aps":{"alert":"Hi}}"#)),
        .tooLarge: ("more bytes than the push type may have", .words("4097 bytes")),
        .apsType: ("`aps`", .payload(#"{"aps":"Hi"}"#)),
        .alertType: ("`alert`", .aps(#""alert":5"#)),
        .textType: ("the texts of `alert`; `thread-id`, `category` and their like", .aps(#""alert":{"title":5}"#)),
        .argumentsType: ("`loc-args` and its like, `url-args`", .aps(#""alert":{"loc-key":"A","loc-args":[1]}"#)),
        .soundType: ("`sound`", .aps(#""sound":1"#)),
        .flagValue:
            (
                "`content-available`, `mutable-content`, `input-push-token`, `critical`",
                .aps(#""content-available":"1""#)
            ),
        .interruptionLevel: ("`interruption-level`", .aps(#""badge":1,"interruption-level":"urgent""#)),
        .relevanceScore:
            ("`relevance-score`; with `liveactivity` any number is good", .aps(#""badge":1,"relevance-score":2"#)),
        .numberType:
            (
                "`timestamp`, `stale-date`, `dismissal-date`, `volume`, `summary-arg-count`",
                .aps(#""badge":1,"timestamp":"5""#)
            ),
        .objectType: ("`content-state`, `attributes`", .aps(#""badge":1,"content-state":"a""#)),
        .misspelledKey:
            (
                "a key in `aps`, `alert` or `sound` that is one slip away from a known one",
                .aps(#""allert":"Hi there.""#)
            ),
        .misplacedKey:
            ("`alert`, `badge` or `sound` beside `aps`; a key of `alert` beside it", .aps(#""title":"Hi""#)),
    ]
}
