// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushCore
import PushNet
import TestSupport
import Testing

struct AppTextsTests {
    private let files: TemporaryDirectory

    init() throws {
        files = try TemporaryDirectory()
        for folder in ["home", "system"] { try files.makeDirectory("\(folder)/posthorn/texts/org.example.Mail") }
    }

    private func add(_ language: String, _ json: String, to folder: String = "home") throws {
        try files.write(json, to: "\(folder)/posthorn/texts/org.example.Mail/\(language).json")
    }

    private func text(
        _ key: String, _ environment: [String: String] = ["LANG": "de_AT.UTF-8"], of appID: AppID = "org.example.Mail"
    ) -> String? {
        let places = ["XDG_DATA_HOME": files.path(of: "home"), "XDG_DATA_DIRS": files.path(of: "system")]
        return AppTexts(environment: environment.merging(places) { $1 }).translation(for: appID)(key)
    }

    @Test(
        arguments: [
            (["LANG": "zh_TW.UTF-8"], "zh_TW zh en default"),
            (["LANG": "sr_RS@latin"], "sr_RS@latin sr_RS sr@latin sr en default"),
            (["LANG": "de_DE", "LC_MESSAGES": "fr_FR"], "fr_FR fr en default"),
            (["LANG": "de_DE", "LC_MESSAGES": "fr_FR", "LC_ALL": "it_IT"], "it_IT it en default"),
            (["LANG": "de_DE", "LANGUAGE": "sv:pt_BR"], "sv pt_BR pt de_DE de en default"),
            (["LANG": "C.UTF-8", "LANGUAGE": "sv"], "en default"), ([:], "en default"),
            (["LANG": "en_GB.UTF-8"], "en_GB en default"), (["LANG": "../../etc"], "en default"),
            (["LANG": "de", "LC_ALL": ""], "de en default"),
        ] as [([String: String], String)])
    func `texts are searched in the user's languages, in English, and in the default file`(
        environment: [String: String], order: String
    ) throws {
        // Each round removes the file that the previous one found.
        let languages = order.split(separator: " ").map(String.init)
        for language in languages { try add(language, #"{"KEY":"\#(language)"}"#) }
        try add("ru", #"{"KEY":"ru"}"#)
        for language in languages {
            #expect(text("KEY", environment) == language)
            try add(language, "{}")
        }
        #expect(text("KEY", environment) == nil)
    }

    @Test func `a missing text falls back to the next language, and the user's file comes first`() throws {
        try add("de", #"{"A":"Eins"}"#)
        try add("de", #"{"A":"Uno","B":"Zwei"}"#, to: "system")
        try add("en", #"{"B":"Two"}"#, to: "system")
        #expect(text("A") == "Eins")
        #expect(text("B") == "Two")
    }

    @Test(arguments: [
        "[]", "7", "{", #"{"KEY":7}"#, #"{"KEY":""}"#, #"{"KEY":null}"#,
        #"{"KEY":"\#(String(repeating: "x", count: AppTexts.textByteCountMax + 1))"}"#,
        #"{"KEY":"x"\#(String(repeating: " ", count: AppTexts.fileByteCountMax))}"#,
    ])
    func `an invalid file counts as missing`(json: String) throws {
        try add("de", json)
        try add("en", #"{"KEY":"English"}"#)
        #expect(text("KEY") == "English")
    }

    @Test func `neither a key nor an app ID can select another app's file`() throws {
        try add("de", #"{"KEY":"Text"}"#)
        #expect(text("KEY", of: "org.example.Other") == nil)
        #expect(text("KEY", of: "../texts/org.example.Mail") == nil)
        #expect(text("../de") == nil)
    }

    @Test func `an alert is in the user's language, in the inbox and on the screen`() async throws {
        try add("de", #"{"FROM":"Post von %@","LINE":"%2$@ an %1$@","OPEN":"Lesen"}"#)
        let texts = AppTexts(environment: ["XDG_DATA_HOME": files.path(of: "home"), "LANG": "de_DE.UTF-8"])
        let database = try AgentDatabase(path: files.path(of: "agent.sqlite"))
        try database.apps.save(Sample.app)
        let payload = """
            {"aps":{"alert":{"title-loc-key":"FROM","title-loc-args":["Anna"],"body":"Sent along","loc-key":"LINE",\
            "loc-args":["Kim","Gruß"],"action-loc-key":"OPEN"}}}
            """
        let receiver = Receiver(database, texts: texts.translation)
        _ = try receiver.receive(
            [.notification(Sample.notification(1, payload: payload))], now: Timestamp(unixMilliseconds: 1))
        let entry = try #require(try database.inbox.entry(1))
        #expect(entry.title == "Post von Anna" && entry.body == "Gruß an Kim")
        let screen = AlertCatcher()
        let queue = PresentationQueue(
            database, loop: try EventLoop(), presenter: screen, sounds: nil, texts: texts.translation)
        queue.entriesArrived([1])
        #expect(screen.alerts.map(\.viewLabel) == ["Lesen"])
    }
}

/// Records the alerts that it should show.
private final class AlertCatcher: AlertPresenter {
    weak var delegate: (any AlertPresenterDelegate)?
    var alerts: [Alert] = []
    let isAvailable = true

    func present(_ alert: Alert, completion: @escaping (AlertPresented) -> Void) {
        alerts.append(alert)
        completion(.shown(playsSound: true))
    }
    func withdraw(entries: [EntryID]) {}
    func adopt(_ alerts: [(alert: Alert, location: AlertLocation)]) {}
}
