// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushCore
import PushNet
import Testing

@Suite struct TerminalPresenterTests {
    private func printed(_ alert: Alert) -> String {
        var output: [UInt8] = []
        let presenter = TerminalPresenter {
            output += $0
            return true
        }
        presenter.present(alert) { #expect($0 == .shown(playsSound: false)) }
        return String(decoding: output, as: UTF8.self)
    }

    @Test func `a printed alert begins with the app's name and ends with the command to read more`() {
        let alert = Alert(
            entry: 7, appID: "a", appName: "Example Mail", title: "Anna", subtitle: "Lunch", body: "At noon?\nOr later?"
        )
        #expect(
            printed(alert) == """
                [Example Mail] Anna
                    Lunch
                    At noon?
                    Or later?
                    posthorn inbox show 7

                """)
    }

    private static let evil = [
        "\u{1B}[31mred\u{1B}[0m", "\u{1B}]0;title\u{7}x", "\u{1B}]8;;http://a\u{1B}\\x", "\u{9B}31mx",
        "\u{9D}0;x\u{9C}y",
        "\u{202E}evil", "\u{2066}evil", "\u{7F}\u{8}x", "a\rb", "a\u{0}b", "\u{1B}P1;2qx\u{1B}\\y", "\u{1B}c",
        "\u{E}\u{F}x",
        "\u{1B}",
    ]

    private func actsNowhere(_ output: String) -> Bool {
        output.unicodeScalars.allSatisfy { scalar in
            scalar == "\n"
                || scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value)
                    && !(0x202A...0x202E).contains(scalar.value) && !(0x2066...0x2069).contains(scalar.value)
        }
    }

    @Test(arguments: evil) func `no text contains terminal control characters`(text: String) {
        #expect(actsNowhere(printed(Alert(entry: 1, appID: "a", appName: text, body: "x"))))
        #expect(actsNowhere(printed(Alert(entry: 1, appID: AppID(text), appName: "Mail", body: "x"))))
        for field in [\Alert.title, \.subtitle, \.body, \.viewLabel, \.icon, \.collapseID] {
            var alert = Alert(entry: 1, appID: "a", appName: "Mail", body: "x")
            alert[keyPath: field] = text
            #expect(actsNowhere(printed(alert)))
        }
    }

    @Test func `an unterminated escape sequence removes only its own text`() {
        let output = printed(
            Alert(entry: 1, appID: "a", appName: "Mail\u{1B}]0;", title: "T\u{1B}P", subtitle: "S\u{9D}", body: "B"))
        #expect(output == "[Mail] T\n    S\n    B\n    posthorn inbox show 1\n")
    }

    @Test func `the presenter cleans the agent's raw texts from payloads`() throws {
        let file = try DatabaseFile()
        let database = try file.open()
        try database.apps.save(Sample.app)
        let text = #"\u001b[2Jgone\u202e\r\u009b31m"#
        let payload = #"{"aps":{"alert":{"title":"\#(text)","subtitle":"\#(text)","body":"\#(text)"}}}"#
        var output: [UInt8] = []
        let presenter = TerminalPresenter {
            output += $0
            return true
        }
        let queue = PresentationQueue(database, loop: try EventLoop(), presenter: presenter, sounds: nil)
        let arrival = Arrival.notification(Sample.notification(1, payload: payload))
        queue.entriesArrived(try Receiver(database).receive([arrival], now: .unixEpoch).waiting)
        let printed = String(decoding: output, as: UTF8.self)
        #expect(printed.contains("gone") && actsNowhere(printed))
    }

    @Test func `a line break in a title cannot imitate a second alert`() {
        let output = printed(Alert(entry: 1, appID: "a", appName: "Mail", title: "x\n[Bank] y", body: "z"))
        #expect(output.split(separator: "\n").filter { $0.hasPrefix("[") }.count == 1)
    }

    @Test func `a closed output is unavailable`() {
        let presenter = TerminalPresenter { _ in false }
        presenter.present(Alert(entry: 1, appID: "a", appName: "Mail", body: "x")) {
            #expect($0 == .unavailable("standard output is closed"))
        }
    }
}
