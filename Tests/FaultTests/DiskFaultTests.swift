// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension Faults {
    /// Runs a server on a disk that refuses one random write, or all writes from a random one on.
    ///
    /// `make soak` tries each write.
    struct DiskFaultTests {
        private let site: ServerSite

        init() async throws { site = try await ServerSite() }

        /// Sends notifications one after the other and returns the statuses.
        private func send(_ count: Int, to server: PushServer) async throws -> [Int?] {
            guard let url = try await server.urlIfStarted() else { return [] }
            var statuses: [Int?] = []
            for number in 0..<count { statuses.append(try await site.send("text-\(number)", to: url)) }
            return statuses
        }

        @Test(.tags(.slow))
        func `after a failed write or sync nothing is accepted, and the next start has all accepted data`()
            async throws
        {
            let walk = ["fdatasync,fsync", "pwrite64"].flatMap { calls in
                (1...40).map { Injection(calls, "error=EIO", when: "\($0)+") }
            }
            for (index, injection) in Faults.steps(walk, count: 8).enumerated() {
                let copy = try site.copyData("case-\(index)")
                let server = try site.start(try injection.wrapper(), on: copy)
                let statuses = try await send(6, to: server)
                let accepted = statuses.prefix { $0 == 200 }.count
                #expect(!statuses.dropFirst(accepted).contains(200), "\(injection.testDescription): \(statuses)")
                if accepted < statuses.count || statuses.isEmpty {
                    let exit = try await server.process.waitForExit()
                    #expect([.code(74), .code(73)].contains(exit), "\(server.process.transcript)")
                } else {
                    try await server.process.killNow()
                }
                let waiting = try await site.waiting(on: copy)
                let sent = (0..<6).map { "text-\($0)" }
                #expect(Array(waiting.prefix(accepted)) == Array(sent.prefix(accepted)), "\(injection.testDescription)")
                #expect(waiting.count <= accepted + 1, "at most the one in doubt")
                try FileManager.default.removeItem(atPath: copy)
            }
        }

        @Test func `a disk that is full for one write causes a delay and no loss`() async throws {
            for when in Faults.steps(Array(1...12), count: 3) {
                let copy = try site.copyData("full-\(when)")
                let injection = Injection("pwrite64", "error=ENOSPC", when: "\(when)..\(when + 3)")
                let server = try site.start(try injection.wrapper(), on: copy)
                guard let url = try await server.urlIfStarted() else {
                    #expect(server.process.errorOutput.contains("Free space"), "\(server.process.transcript)")
                    continue
                }
                var accepted: [String] = []
                try await eventually("it accepts again", evidence: { server.process.transcript }) {
                    let text = "text-\(accepted.count)"
                    let status = try await site.send(text, to: url)
                    if status == 200 { accepted.append(text) }
                    #expect(status == 200 || status == 503, "\(String(describing: status))")
                    return accepted.count == 3
                }
                try await server.stop()
                #expect(try await site.waiting(on: copy) == accepted, "\(injection.testDescription)")
            }
        }
    }
}
