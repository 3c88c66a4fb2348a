// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceEndToEnd {
    /// Checks the agent's commands for a user without a desktop.
    struct WatchTests {
        @Test func `watch and badge continue over a restart of the agent`() async throws {
            let house = try await House()
            let posthorn = RepositoryPaths.program("posthorn")
            let watch = try RunningProcess(posthorn, ["watch", "--json"], environment: house.user.environment)
            let badge = try RunningProcess(
                posthorn, ["badge", "--format", "polybar", "--follow"], environment: house.user.environment)
            #expect(try await badge.outputLine(0) == "")
            // The command listens once it prints an arriving notification.
            var sentCount = 0
            try await eventually("watch prints the first") {
                sentCount += 1
                _ = try await house.provider.send(house.notification("first \(sentCount)"))
                return watch.output.contains("first")
            }
            let payload = #"{"aps":{"alert":"counted","badge":5}}"#
            _ = try await house.provider.send(SentNotification(token: house.token, payload: payload))
            #expect(try await badge.outputLine(1) == "5")

            try await house.user.agent.killNow()
            try await house.user.startAgent()
            try await house.user.waitUntilConnected()
            try await house.user.posthorn("dnd", "for", "1h")
            let quiet = #"{"aps":{"alert":"second","badge":6}}"#
            _ = try await house.provider.send(SentNotification(token: house.token, payload: quiet))
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

        @Test func `a misspelled app id finds nothing and removes nothing`() async throws {
            let house = try await House()
            for words in [
                ["inbox", "list", "--app", "org.example.Mial"], ["inbox", "read", "org.example.Mial"],
                ["inbox", "clear", "org.example.Mial"], ["watch", "--app", "org.example.Mial"],
                ["settings", "show", "org.example.Mial"], ["badge", "org.example.Mial"],
            ] {
                let result = try await house.user.run(words)
                #expect(
                    result.exit == .code(4) && result.errorOutput.contains("Did you mean '\(House.app)'?"), "\(result)")
            }
            #expect(try await house.user.posthorn("inbox", "clear", House.app).exit == .code(0))
        }

        @Test func `an invalid argument is answered with a remedy`() async throws {
            let house = try await House()
            let sound = try await house.user.run(["sound", "install", House.app, "/nowhere/ping.oga"])
            #expect(sound.exit == .code(4) && sound.errorOutput.contains("Check the path."), "\(sound)")
            let past = try await house.user.run(["settings", "set", "do-not-disturb", "until", "7"])
            #expect(past.exit == .code(1) && past.errorOutput.contains("the time is in the past"), "\(past)")
            let standard = try await house.user.posthorn("settings", "set", House.app, "sound", "default")
            #expect(standard.output == "\(House.app): sound is on, the default.\n", "\(standard)")
        }
    }
}
