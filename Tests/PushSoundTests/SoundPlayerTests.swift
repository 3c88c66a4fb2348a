// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import PushSound
import TestSupport
import Testing

// libcanberra finds its sound server through the environment, which belongs to the whole process. So each player runs
// in a process of its own.
@Suite(.tags(.slow))
struct SoundPlayerTests {
    @Test(arguments: [("bell", "bell"), ("message-new-instant-and-more", "message-new-instant-and-more")])
    func `a sound of the theme, or of the shorter name, reaches the sink as an event`(name: String, id: String) async {
        await #expect(processExitsWith: .success) { [name, id] in
            let sound = try await DesktopSound()
            useAsSoundServer(sound)
            let player = try SoundPlayer(applicationName: "posthorn test")
            try player.play(named: name, description: "a test")
            try await sound.plays("event.id = \"\(id)\"")
            try await sound.plays("media.role = \"event\"")
            try await sound.plays("application.name = \"posthorn test\"")
        }
    }

    @Test func `a file reaches the sink with its role and description`() async {
        await #expect(processExitsWith: .success) {
            let sound = try await DesktopSound()
            useAsSoundServer(sound)
            let file = sound.files.path(of: "short.wav")
            try sound.writeWave(to: file, durationSeconds: 1)
            let player = try SoundPlayer(applicationName: "posthorn test")
            try player.play(file: file, description: "an order arrived")
            try await sound.plays("media.filename = \"\(file)\"")
            try await sound.plays("media.role = \"event\"")
            try await sound.plays("event.description = \"an order arrived\"")
        }
    }

    @Test func `a sound that the theme lacks is an error that permits a fallback`() async {
        await #expect(processExitsWith: .success) {
            let sound = try await DesktopSound()
            useAsSoundServer(sound)
            let player = try SoundPlayer(applicationName: "posthorn test")
            for name in ["nonexistent", "", "../../../etc/passwd", "a/b", "bell\0"] {
                let error = #expect(throws: SoundError.self) { try player.play(named: name, description: "a test") }
                #expect(error?.remedy == .chooseAnotherSound, "\(name)")
            }
            for file in ["", "/nonexistent.oga", "/dev/null", "/proc/self/exe", "/tmp"] {
                #expect(throws: SoundError.self) { try player.play(file: file, description: "a test") }
            }
        }
    }

    @Test func `without a sound server playing fails with a retryable error, and the next sound plays`() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("PULSE_SERVER", "unix:/nonexistent/pulse", 1)
            unsafe setenv("CANBERRA_DRIVER", "pulse", 1)
            let player = try SoundPlayer(applicationName: "posthorn test")
            let error = #expect(throws: SoundError.self) { try player.play(named: "bell", description: "a test") }
            #expect(error?.remedy == .tryLater)
            let sound = try await DesktopSound()
            useAsSoundServer(sound)
            try player.play(named: "bell", description: "a test")
            try await sound.plays("event.id = \"bell\"")
        }
    }

    @Test func `a sound server that restarts plays the next sounds`() async {
        await #expect(processExitsWith: .success) {
            let first = try await DesktopSound()
            useAsSoundServer(first)
            let player = try SoundPlayer(applicationName: "posthorn test")
            try player.play(named: "bell", description: "a test")
            try await first.server.killNow()
            let second = try await DesktopSound(in: first.files)
            try await eventually("a sound plays again", evidence: { second.server.transcript }) {
                try? player.play(named: "bell", description: "a test")
                return second.playedCount > 0
            }
        }
    }

    @Test func `a name with a NUL is refused`() {
        #expect(throws: SoundError.self) { try SoundPlayer(applicationName: "a\0b") }
    }
}

/// Points this process at a sound server through its environment.
private func useAsSoundServer(_ sound: DesktopSound) {
    for (name, value) in sound.environment { unsafe setenv(name, value, 1) }
}
