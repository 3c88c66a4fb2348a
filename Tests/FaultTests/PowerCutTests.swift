// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension Faults {
    /// Cuts the power, so that data is lost that the kernel has not written to the disk.
    @Suite(.enabled(if: CutDisk.isPossible, "cutting the power needs root, loop devices and mkfs.ext4"))
    struct PowerCutTests {
        @Test(.tags(.slow)) func `a notification accepted before a power cut is there afterwards`() async throws {
            for round in 0..<max(2, Patience.caseCount / 50) {
                let disk = try CutDisk()
                let site = try await ServerSite(data: disk.path(of: "data"))
                let server = try site.start()
                let url = try await server.url()
                let sender = Task {
                    var accepted: [(text: String, at: ContinuousClock.Instant)] = []
                    for number in 0..<60 {
                        let text = "text-\(number)"
                        guard try await site.send(text, to: url) == 200 else { break }
                        accepted.append((text, .now))
                    }
                    return accepted
                }
                try await Task.sleep(for: .milliseconds(100 + round * 271 % 900))
                let cut = ContinuousClock.now
                try disk.cutPower()
                let answered = try await sender.value
                // A machine without power does not answer, so answers during the cut do not count.
                let accepted = answered.filter { $0.at < cut }.map(\.text)
                try await server.process.killNow()
                try disk.comeBack()
                let waiting = try await site.waiting()
                #expect(Array(waiting.prefix(accepted.count)) == accepted, "round \(round)")
                #expect(waiting.count <= answered.count + 1, "round \(round): at most the one in doubt")
            }
        }

        @Test func `the method distinguishes synchronized data from unsynchronized data`() throws {
            let disk = try CutDisk()
            try write("kept", to: disk.path(of: "kept"), isSynchronized: true)
            try write("lost", to: disk.path(of: "lost"), isSynchronized: false)
            try disk.cutPower()
            try disk.comeBack()
            #expect(readText(disk.path(of: "kept")) == "kept")
            #expect(readText(disk.path(of: "lost")) == "")
        }

        private func write(_ text: String, to path: String, isSynchronized: Bool) throws {
            let file = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            defer { close(file) }
            let bytes = Array(text.utf8)
            guard unsafe Glibc.write(file, bytes, bytes.count) == bytes.count, !isSynchronized || fsync(file) == 0
            else { throw SystemFailure(call: "write \(path)", code: errno) }
        }

        @Test func `a file system that becomes read-only ends the server, and nothing accepted is lost`()
            async throws
        {
            let disk = try CutDisk()
            let site = try await ServerSite(data: disk.path(of: "data"))
            let server = try site.start()
            let url = try await server.url()
            #expect(try await site.send("before", to: url) == 200)
            try disk.becomeReadOnly()
            #expect(try await site.send("after", to: url) != 200)
            #expect(try await server.process.waitForExit() == .code(74), "\(server.process.transcript)")
            let refused = try site.start()
            guard case .code(let code) = try await refused.process.waitForExit(), code != 0 else {
                Issue.record("\(refused.process.transcript)")
                return
            }
            #expect(refused.process.errorOutput.contains("write"), "\(refused.process.transcript)")
            try disk.comeBack()
            #expect(try await site.waiting() == ["before"])
        }
    }
}
