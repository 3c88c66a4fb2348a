// SPDX-License-Identifier: Apache-2.0

@testable import AgentStore
import PushCore
import TestSupport
import Testing

struct AppManifestTests {
    private func parse(_ text: String) throws -> AppManifest { try AppManifest(parsing: Array(text.utf8)) }

    @Test func `the example app's manifest uses every member`() throws {
        let text = readText("\(RepositoryPaths.root)/examples/mail/org.example.Mail.json")
        let manifest = try parse(text)
        #expect(manifest.name == "Example Mail" && manifest.topic == nil)
        #expect(manifest.eventTypes.map(\.id) == ["MAIL", "INVITATION"])
        let mail = try #require(manifest.category("MAIL"))
        #expect(mail.actions.map(\.title) == ["Archive", "Reply"])
        #expect(mail.actions.map(\.takesText) == [false, true])
        #expect(mail.actions.map(\.isForeground) == [false, false])
        #expect(manifest.sounds == ["new-mail"])
        #expect(manifest.filter == .bus && manifest.wakesInBackground)
        #expect(manifest.category("INVITATION") == nil && manifest.category(nil) == nil)
    }

    @Test(arguments: ["", "{}", #"{"name":null,"sounds":null,"of_later":{"x":[1]}}"#])
    func `missing members stay unset, and members of later versions are ignored`(text: String) throws {
        #expect(try parse(text) == AppManifest())
    }

    @Test(
        arguments: [
            ("", []), (#","parts":["alert"]"#, ["badge, sound"]), (#","parts":["alert","badge","sound"]"#, []),
            (#","parts":[]"#, ["badge, sound, alert"]), (#","parts":["alert"]},{"id":"B","name":"B""#, []),
            (#","parts":["alert"]},{"id":"B","name":"B","parts":["badge"]"#, ["sound"]),
        ] as [(String, [String])])
    func `an app whose event types omit badge, sound or alert is advised`(
        more: String, missing: [String]
    ) throws {
        var app = RegisteredApp(appID: "a", topic: "a", name: "A", icon: nil, deviceToken: "")
        app.manifestText = Array(#"{"event_types":[{"id":"A","name":"A"\#(more)}]}"#.utf8)
        #expect(
            app.advice
                == missing.map {
                    "W L-P07 event_types: Support badges, sounds and alerts: users choose which they want. Missing: \($0)."
                })
        #expect(app.manifest.eventTypes.map(\.id).first == "A")
    }

    @Test func `an app can ask for links and name the hosts of its pictures`() throws {
        let manifest = try parse(#"{"opens":"url","picture_hosts":["Images.example.org","example.org:8443"]}"#)
        #expect(manifest.opensLinks)
        #expect(manifest.pictureHosts == [PictureHost("images.example.org"), PictureHost("example.org:8443")])
    }

    @Test func `a filter is the bus or a program with its arguments`() throws {
        #expect(
            try parse(#"{"filter":["/usr/bin/mail-filter","--fast"]}"#).filter
                == .program(["/usr/bin/mail-filter", "--fast"]))
    }

    @Test(arguments: [
        ("[]", "not a JSON object"), ("{", "not a JSON object"), (#"{"name":7}"#, "name must be a text"),
        (#"{"name":""}"#, "name must be a text"), (#"{"topic":"a\u0000"}"#, "topic must be a text"),
        (#"{"event_types":{}}"#, "event_types must be a list"),
        (#"{"opens":"mail"}"#, "opens must be \"app\" or \"url\""), (#"{"opens":true}"#, "opens must be"),
        (#"{"picture_hosts":["*.example.org"]}"#, "picture_hosts: '*.example.org' is not a host"),
        (#"{"picture_hosts":"example.org"}"#, "picture_hosts must be a list"),
        (#"{"event_types":[1]}"#, "event_types[0] must be an object"),
        (#"{"event_types":[{"id":"A"}]}"#, "event_types[0].name must be present"),
        (#"{"event_types":[{"id":"A","name":"B","parts":"alert"}]}"#, "event_types[0].parts must be a list"),
        (#"{"event_types":[{"id":"A","name":"B","parts":["Alert"]}]}"#, "parts must be a list of alert, badge"),
        (#"{"categories":[{"id":"A","actions":[{"id":"b"}]}]}"#, "categories[0].actions[0].title must be present"),
        (#"{"categories":[{"id":"A","actions":[{"id":"b","title":"c","text":1}]}]}"#, "actions[0].text must be true"),
        (#"{"categories":[{"id":"A","actions":[{},{},{},{},{}]}]}"#, "actions must be a list of at most 4"),
        (#"{"sounds":["../x"]}"#, "'../x'"), (#"{"sounds":"x"}"#, "sounds must be a list"),
        (#"{"background":1}"#, "background must be true or false"), (#"{"filter":"x"}"#, "filter must be \"bus\""),
        (#"{"filter":["mail-filter"]}"#, "absolute path"), (#"{"filter":[]}"#, "absolute path"),
    ])
    func `an invalid member is named by its place`(text: String, message: String) throws {
        let error = #expect(throws: AppManifestError.self) { try parse(text) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test func `a manifest and its lists have size limits`() throws {
        func types(_ count: Int) -> String {
            "{\"event_types\":[" + (0..<count).map { #"{"id":"\#($0)","name":"N"}"# }.joined(separator: ",") + "]}"
        }
        #expect(try parse(types(AppManifest.countMax)).eventTypes.count == AppManifest.countMax)
        #expect(throws: AppManifestError.self) { try parse(types(AppManifest.countMax + 1)) }
        let padding = String(repeating: " ", count: AppManifest.byteCountMax - 2)
        #expect(try parse("{\(padding)}") == AppManifest())
        #expect(throws: AppManifestError.self) { try parse("{ \(padding)}") }
    }
}
