// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import Foundation
import PushCore
import PushNet
import LoopTestSupport
import TestSupport
import Testing

// libcanberra finds its sound server through the environment, which belongs to the whole process. So each test runs in
// a process of its own.
@Suite(.tags(.slow))
struct DesktopSoundsTests {
    @Test(
        arguments: [
            ("", "message-new-instant"), ("bell", "bell"), ("bell.caf", "bell"), ("phone-incoming-call-late", nil),
            ("nonexistent", "message-new-instant"), ("../../etc/passwd", "message-new-instant"),
            ("broken", "message-new-instant"),
        ] as [(String, String?)])
    func `a sound of the theme is played, or else the default`(name: String, id: String?) async {
        await #expect(processExitsWith: .success) { [name, id] in
            let server = try await DesktopSound()
            use(server)
            try addAppSound("not a sound", "broken.oga", server)
            let loop = try EventLoop()
            let sounds = try DesktopSounds(loop: loop, environment: server.environment, log: quiet)
            sounds.play(name.isEmpty ? .standard : .named(name), appID: "org.posthorn.Test", appName: "Orders") { _ in }
            try await server.plays("event.id = \"\(id ?? name)\"")
            try await server.plays("event.description = \"Orders\"")
            withExtendedLifetime(sounds) {}
        }
    }

    @Test func `an app's own file is played under the app's name`() async {
        await #expect(processExitsWith: .success) {
            let server = try await DesktopSound()
            use(server)
            let folder = try server.files.makeDirectory("posthorn/sounds/org.posthorn.Test")
            try server.writeWave(to: "\(folder)/chime.wav", durationSeconds: 1)
            let loop = try EventLoop()
            let sounds = try DesktopSounds(loop: loop, environment: ["XDG_DATA_HOME": server.files.path], log: quiet)
            sounds.play(.named("chime"), appID: "org.posthorn.Test", appName: "Orders") { _ in }
            try await server.plays("media.filename = \"\(folder)/chime.wav\"")
            try await server.plays("event.description = \"Orders\"")
            try await server.plays("media.role = \"event\"")
            withExtendedLifetime(sounds) {}
        }
    }

    @Test func `a sound server that hangs does not block the caller, and waiting sounds are limited`() async {
        await #expect(processExitsWith: .success) {
            let server = try await DesktopSound()
            use(server)
            server.server.send(SIGSTOP)
            let loop = try EventLoop()
            let sounds = try DesktopSounds(loop: loop, environment: server.environment, log: quiet)
            for _ in 0..<1000 { sounds.play(.standard, appID: "org.posthorn.Test", appName: "Orders") { _ in } }
            server.server.send(SIGCONT)
            // The server accepts sounds in order. When the last one plays, all earlier ones have been played.
            try await loop.run("there is room for one more") {
                sounds.play(.named("bell"), appID: "org.posthorn.Test", appName: "Orders") { _ in }
                return server.server.errorOutput.contains("event.id = \"bell\"")
            }
            let standardCount = server.server.errorOutput.components(separatedBy: "\"message-new-instant\"").count - 1
            #expect(standardCount > 0 && standardCount < 100)
            withExtendedLifetime(sounds) {}
        }
    }

    @Test func `a sound that failed does not prevent the next one`() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("PULSE_SERVER", "unix:/nonexistent/keepalive", 1)
            unsafe setenv("CANBERRA_DRIVER", "keepalive", 1)
            let loop = try EventLoop()
            let sounds = try DesktopSounds(loop: loop, environment: [:], log: quiet)
            var results: [SuppressionReason?] = []
            for sound in [Sound.standard, .named("chime")] {
                sounds.play(sound, appID: "org.posthorn.Test", appName: "Orders") { results.append($0) }
            }
            try await loop.run("the observer hears of each change") { results == [.unavailable, .unavailable] }
            let server = try await DesktopSound()
            use(server)
            try await loop.run("a sound plays") {
                sounds.play(.standard, appID: "org.posthorn.Test", appName: "Orders") { results.append($0) }
                return server.playedCount > 0
            }
            try await loop.run("the observer hears of this change, too") { results.contains(nil) }
            withExtendedLifetime(sounds) {}
        }
    }
}

private let quiet = EventLog(threshold: .error, isJournal: false)

/// Points this process at a sound server through its environment.
private func use(_ sound: DesktopSound) {
    for (name, value) in sound.environment { unsafe setenv(name, value, 1) }
}

private func addAppSound(_ content: String, _ name: String, _ server: DesktopSound) throws {
    try server.files.makeDirectory(".local/share/posthorn/sounds/org.posthorn.Test")
    try server.files.write(content, to: ".local/share/posthorn/sounds/org.posthorn.Test/\(name)")
}
