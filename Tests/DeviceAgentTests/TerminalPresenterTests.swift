// SPDX-License-Identifier: Apache-2.0

import DeviceAgent
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

    @Test func `the app's name stands in front, and how to read on behind`() {
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

    @Test(arguments: [
        "\u{1B}[31mred\u{1B}[0m", "\u{1B}]0;title\u{7}x", "\u{9B}31mx", "\u{202E}evil", "\u{7F}\u{8}x", "a\rb",
        "\u{1B}P1;2qx\u{1B}\\y",
    ])
    func `nothing in a payload acts on the terminal`(text: String) {
        let output = printed(Alert(entry: 1, appID: "a", appName: text, title: text, body: text))
        for scalar in output.unicodeScalars {
            #expect(scalar == "\n" || scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value))
            #expect(!(0x202A...0x202E).contains(scalar.value))
        }
    }

    @Test func `an alert cannot pretend to be two`() {
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
