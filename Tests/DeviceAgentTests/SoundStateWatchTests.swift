// SPDX-License-Identifier: Apache-2.0

@testable import DeviceAgent
import Foundation
import PushNet
import PushSound
import LoopTestSupport
import TestSupport
import Testing

struct SoundStateWatchTests {
    @Test(.tags(.slow)) func `a sound server that starts later is read before the next sound is decided`() async {
        await #expect(processExitsWith: .success) {
            let first = try await DesktopSound()
            for (name, value) in first.environment { unsafe setenv(name, value, 1) }
            try await first.server.killNow()
            let loop = try EventLoop()
            let watch = try SoundStateWatch(loop: loop)
            var isTold = false
            if watch.isKnown(orCall: { isTold = true }) { isTold = true }
            try await loop.run("nobody is there, and nobody is waited for") { isTold }
            #expect(watch.isKnown {})

            let server = try await DesktopSound(in: first.files)
            let pipe = server.files.path(of: "pipe")
            _ = try await server.pactl("load-module", "module-pipe-source", "source_name=microphone", "file=\(pipe)")
            let recorder = try RunningProcess(
                RepositoryPaths.tool("parec"), ["--device=microphone", "/dev/null"], environment: server.environment)
            try await eventually("something records", evidence: { recorder.transcript }) {
                try await !server.pactl("list", "short", "source-outputs").output.isEmpty
            }
            isTold = false
            try await loop.run("it looks again") { !watch.isKnown { isTold = true } }
            try await loop.run("the server says something") { isTold }
            #expect(watch.current().isRecording)
            #expect(watch.isKnown {})
            try await recorder.killNow()
        }
    }

    // libpulse finds its server through the environment, which belongs to the whole process. So this runs in its own
    // process.
    @Test(.tags(.slow)) func `a missing sound server is not searched for with each notification`() async {
        await #expect(processExitsWith: .success) {
            let files = try TemporaryDirectory()
            let path = files.path(of: "native")
            let server = try RunningProcess(
                "/usr/bin/python3",
                [
                    "-uc",
                    """
                    import socket, sys
                    server = socket.socket(socket.AF_UNIX)
                    server.bind(sys.argv[1])
                    server.listen()
                    print("ready")
                    while True:
                        server.accept()[0].close()
                        print("hung up")
                    """, path,
                ])
            try await eventually("it listens") { server.output.contains("ready") }
            unsafe setenv("PULSE_SERVER", "unix:\(path)", 1)
            func hangUpCount() -> Int { server.output.matches(of: /hung up/).count }
            let loop = try EventLoop()
            let start = ContinuousClock.now
            let watch = try SoundStateWatch(loop: loop)
            try await loop.run("it was looked for") { hangUpCount() > 0 }
            for _ in 0..<100 {
                _ = watch.current()
                var hasTurned = false
                loop.schedule(after: .milliseconds(10)) { hasTurned = true }
                try await loop.run("a moment") { hasTurned }
            }
            let lookCountMax = 2 + Int((ContinuousClock.now - start) / SoundStateWatch.lookInterval)
            #expect(hangUpCount() <= lookCountMax)
        }
    }
}
