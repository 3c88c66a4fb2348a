// SPDX-License-Identifier: Apache-2.0

internal import TestSupport
internal import Testing

extension DeviceScreenEndToEnd {
    /// Checks the agent's own texts in alerts on the notification server.
    struct LanguageTests {
        private func show(language: String) async throws -> [RecordingDaemon.Shown] {
            let bus = try await DesktopBus()
            let daemon = try await RecordingDaemon(bus)
            let catalogues = try await PanelScene.catalogues(for: language)
            let stack = try await TestStack(
                bus: bus,
                environment: [
                    "LANG": "C.UTF-8", "LANGUAGE": language, "POSTHORN_LOCALE_DIR": catalogues.path,
                ]
            ) { user in
                // An alert of an app that is not installed has no View.
                try user.files.makeDirectory("data/applications")
                try user.files.write(
                    "[Desktop Entry]\nType=Application\nName=Example Mail\nExec=/usr/bin/true\n",
                    to: "data/applications/\(TestStack.app).desktop")
            }
            for alert in [#""One.""#, #"{"body":"Two.","action-loc-key":null}"#] {
                let payload = #"{"aps":{"alert":\#(alert),"thread-id":"x"}}"#
                let sent = try await stack.provider.send(SentNotification(token: stack.token, payload: payload))
                #expect(sent.status == 200)
            }
            return try await eventualValue("both are shown") {
                let shown = daemon.shown().map(\.call)
                return shown.count == 2 ? shown : nil
            }
        }

        @Test(
            .tags(.slow),
            arguments: [
                ("zh_TW", ["查看", "關閉"], "確定", "還有 1 則"), ("de", ["Ansehen", "Schließen"], "OK", "und 1 weitere"),
                ("en", ["View", "Close"], "OK", "and 1 more"),
                ("nb", ["View", "Close"], "OK", "and 1 more"),
            ])
        func `buttons and counts are in the user's language`(
            language: String, labels: [String], ok: String, count: String
        ) async throws {
            let shown = try await show(language: language)
            #expect(shown[0].actions == ["default", labels[0], "close", labels[1], "view", labels[0]])
            #expect(shown[1].actions == ["ok", ok])
            #expect(shown[1].body.hasSuffix("\n\(count)"), "\(shown[1].body)")
        }
    }
}
