// SPDX-License-Identifier: Apache-2.0

import DeviceAgent
import Foundation
import PushNet
import TestSupport
import Testing

struct SoundStateWatchTests {
    // libpulse finds its server by the environment, which belongs to the whole process: this runs in one of its own.
    @Test(.tags(.slow)) func `a sound server that is gone is not looked for with each notification`() async {
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
