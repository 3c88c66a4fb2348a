// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension Faults {
    /// Checks a server while the wall clock jumps.
    ///
    /// The timers' clock does not jump, as in the kernel.
    @Suite(.preloadsLibrary) struct ClockTests {
        private let site: ServerSite
        private let clock: FakeClock
        private let environment: [String: String]

        init() async throws {
            site = try await ServerSite()
            clock = try FakeClock()
            environment = clock.environment
        }

        private func send(_ text: String, _ url: String, _ options: String...) async throws -> Int? {
            try await site.send(text, to: url, options: options, environment: environment)
        }

        @Test(.tags(.slow)) func `a clock jump closes no stream, and expires only notifications past their expiration`()
            async throws
        {
            let server = try site.start(["/usr/bin/env"], environment: environment)
            let url = try await server.url()
            #expect(try await send("an hour", url, "--expiration", "+3600") == 200)
            #expect(try await send("a week", url, "--expiration", "+604800") == 200)
            #expect(try await send("for long", url) == 200)

            try clock.jump(to: "-50m")
            let early = try site.openStream(url)
            #expect(try await send("earlier", url) == 200)
            let all = ["an hour", "a week", "for long", "earlier"]
            try await eventually("nothing expired early", evidence: { early.process.transcript }) { early.texts == all }

            try clock.jump(to: "+2d")
            #expect(try await send("tomorrow", url) == 200)
            try await eventually("the stream lives on") { early.texts.last == "tomorrow" }
            let late = try site.openStream(url)
            try await eventually("what is over does not come", evidence: { late.process.transcript }) {
                late.texts == ["a week", "for long", "earlier", "tomorrow"]
            }
            #expect(try await early.process.waitForExit() == .code(0), "replaced, in order")

            try clock.jump(to: "+0")
            #expect(try await send("today", url) == 200)
            try await eventually("the stream lives on") { late.texts.last == "today" }
            #expect(late.process.exit == nil)
            try await server.stop()
        }

        @Test func `an enrolment code is valid for the 24 hours that its answer promises`() async throws {
            let server = try site.start(["/usr/bin/env"], environment: environment)
            let url = try await server.url()
            let begin = Int64(Date().timeIntervalSince1970)
            let (early, late) = (try await site.enrolmentCode(), try await site.enrolmentCode())
            let end = Int64(Date().timeIntervalSince1970)
            #expect((begin + 86_400...end + 86_400).contains(early.expiresAt), "\(early.expiresAt - begin)")

            try clock.jump(to: "+86340")
            #expect(try await site.enrol(early.code, at: url) == 201, "a minute before its end")
            // The server grants no extra time. One of the two seconds covers the fractions of a second of both clocks.
            try clock.jump(to: "+\(late.expiresAt - Int64(Date().timeIntervalSince1970) + 2)")
            #expect(try await site.enrol(late.code, at: url) == 403, "two seconds after its end")
            try await server.stop()
        }

        @Test func `a server whose clock was in the past when it stopped keeps pending notifications`() async throws {
            let server = try site.start(["/usr/bin/env"], environment: environment)
            #expect(try await send("kept", try await server.url()) == 200)
            try await server.stop()
            for offset in ["+20d", "-20d", "+0"] {
                try clock.jump(to: offset)
                let next = try site.start(["/usr/bin/env"], environment: environment)
                let stream = try site.openStream(try await next.url())
                try await eventually("it waits at \(offset)") { stream.texts == ["kept"] }
                try await next.stop()
            }
        }
    }
}
