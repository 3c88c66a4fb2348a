// SPDX-License-Identifier: Apache-2.0

import Foundation
@testable import PushSound
import Synchronization
import TestSupport
import Testing

// libpulse finds its server through the environment, which belongs to the whole process. So each test runs in its own
// process.
@Suite(.tags(.slow))
struct SoundWatchTests {
    private static func use(_ server: DesktopSound) {
        for (name, value) in server.environment { unsafe setenv(name, value, 1) }
    }

    @Test func `muting, volume 0 and recording are reported, and so is their end`() async {
        await #expect(processExitsWith: .success) {
            let server = try await DesktopSound()
            SoundWatchTests.use(server)
            let states = StateList()
            let watch = SoundWatch { states.append($0) }
            func expect(_ what: String, _ condition: @escaping @Sendable (SoundState) -> Bool) async throws {
                try await eventually(what, evidence: { server.server.transcript }) { condition(states.last) }
            }
            // Changes are reported only after the connection is up, so the first one may come too early.
            try await eventually("it is muted", evidence: { server.server.transcript }) {
                _ = try await server.pactl("set-sink-mute", "silent", "1")
                return states.last.isMuted
            }
            _ = try await server.pactl("set-sink-mute", "silent", "0")
            try await expect("it is not muted") { !$0.isMuted }
            _ = try await server.pactl("set-sink-volume", "silent", "0%")
            try await expect("the volume is 0") { $0.isMuted }
            _ = try await server.pactl("set-sink-volume", "silent", "50%")
            try await expect("it is loud again") { !$0.isMuted }
            // The microphone is a pipe that has no writer.
            _ = try await server.pactl(
                "load-module", "module-pipe-source", "source_name=microphone", "file=\(server.files.path(of: "pipe"))")
            let recorder = try RunningProcess(
                RepositoryPaths.tool("parec"), ["--device=microphone", "/dev/null"], environment: server.environment)
            try await expect("something records") { $0.isRecording }
            try await recorder.killNow()
            try await expect("nothing records any more") { !$0.isRecording }
            let listener = try RunningProcess(
                RepositoryPaths.tool("parec"), ["--device=silent.monitor", "/dev/null"], environment: server.environment
            )
            _ = try await server.pactl("set-sink-mute", "silent", "1")
            try await expect("it is muted once more") { $0.isMuted }
            #expect(!states.last.isRecording, "what is played is no microphone")
            try await listener.killNow()
            withExtendedLifetime(watch) {}
        }
    }

    @Test func `without a sound server no sound is suppressed, and a server that starts later is found`() async {
        await #expect(processExitsWith: .success) {
            let server = try await DesktopSound()
            SoundWatchTests.use(server)
            try await server.server.killNow()
            let states = StateList()
            let watch = SoundWatch { states.append($0) }
            let next = try await DesktopSound(in: server.files)
            try await eventually("it is muted", evidence: { next.server.transcript }) {
                watch.ensureConnected()
                _ = try await next.pactl("set-sink-mute", "silent", "1")
                return states.last.isMuted
            }
            try await next.server.killNow()
            try await eventually("what is gone mutes nothing") { !states.last.isMuted }
        }
    }
}

private final class StateList: Sendable {
    private let states = Mutex<[SoundState]>([])

    var last: SoundState { states.withLock { $0.last ?? SoundState() } }

    func append(_ state: SoundState) { states.withLock { $0.append(state) } }
}
