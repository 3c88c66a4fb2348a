// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceEndToEnd {
    /// Checks the agent's commands for a user without a desktop.
    struct WatchTests {
        @Test func `watch and badge continue over a restart of the agent`() async throws {
            let stack = try await TestStack()
            let posthorn = RepositoryPaths.program("posthorn")
            let watch = try RunningProcess(posthorn, ["watch", "--json"], environment: stack.user.environment)
            let badge = try RunningProcess(
                posthorn, ["badge", "--format", "polybar", "--follow"], environment: stack.user.environment)
            #expect(try await badge.outputLine(0) == "")
            // The command listens once it prints an arriving notification.
            var sentCount = 0
            try await eventually("watch prints the first") {
                sentCount += 1
                _ = try await stack.provider.send(stack.notification("first \(sentCount)"))
                return watch.output.contains("first")
            }
            let payload = #"{"aps":{"alert":"counted","badge":5}}"#
            _ = try await stack.provider.send(SentNotification(token: stack.token, payload: payload))
            #expect(try await badge.outputLine(1) == "5")

            try await stack.user.agent.killNow()
            try await stack.user.startAgent()
            try await stack.user.waitUntilConnected()
            try await stack.user.posthorn("dnd", "for", "1h")
            let quiet = #"{"aps":{"alert":"second","badge":6}}"#
            _ = try await stack.provider.send(SentNotification(token: stack.token, payload: quiet))
            try await eventually("watch prints the second", evidence: { watch.transcript }) {
                watch.output.contains("second")
            }
            try await eventually("badge prints the second", evidence: { badge.transcript }) {
                badge.output.hasSuffix("6\n")
            }
            let line = try #require(watch.output.split(separator: "\n").last)
            #expect(line.contains(#""effects":["badge","alert:do-not-disturb"]"#))
            #expect(watch.exit == nil && badge.exit == nil)
        }

        @Test func `a misspelled app ID finds nothing and removes nothing`() async throws {
            let stack = try await TestStack()
            for words in [
                ["inbox", "list", "--app", "org.example.Mial"], ["inbox", "read", "org.example.Mial"],
                ["inbox", "clear", "org.example.Mial"], ["watch", "--app", "org.example.Mial"],
                ["settings", "show", "org.example.Mial"], ["badge", "org.example.Mial"],
                ["settings", "set", "org.example.Mial", "sound", "off"], ["settings", "mute", "org.example.Mial"],
            ] {
                let result = try await stack.user.run(words)
                #expect(
                    result.exit == .code(4) && result.errorOutput.contains("Did you mean '\(TestStack.app)'?"),
                    "\(result)")
            }
            #expect(try await stack.user.posthorn("inbox", "clear", TestStack.app).exit == .code(0))
        }

        @Test func `a misspelled event type is answered with the closest one`() async throws {
            let stack = try await TestStack()
            let files = try TemporaryDirectory()
            let manifest = #"{"event_types":[{"id":"NEWS","name":"News","parts":["alert"]}]}"#
            let path = try files.write(manifest, to: "manifest.json")
            try await stack.user.posthorn("register", TestStack.app, "--manifest", path)
            let result = try await stack.user.run(["settings", "set", TestStack.app, "NESW", "alert", "off"])
            let expected = """
                posthorn: app '\(TestStack.app)' has no event type 'NESW'
                  Did you mean 'NEWS'?

                """
            #expect(result.exit == .code(4) && result.errorOutput == expected, "\(result)")
        }

        @Test func `an invalid argument is answered with a remedy`() async throws {
            let stack = try await TestStack()
            let sound = try await stack.user.run(["sound", "install", TestStack.app, "/nowhere/ping.oga"])
            #expect(sound.exit == .code(4) && sound.errorOutput.contains("Check the path."), "\(sound)")
            let past = try await stack.user.run(["settings", "set", "do-not-disturb", "until", "7"])
            #expect(past.exit == .code(1) && past.errorOutput.contains("the time is in the past"), "\(past)")
            let standard = try await stack.user.posthorn("settings", "set", TestStack.app, "sound", "default")
            #expect(standard.output == "\(TestStack.app): sound is on, the default.\n", "\(standard)")
        }
    }
}
