// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension Faults {
    /// Flips bits in the database while no server runs.
    struct DamageTests {
        private static let sent = (0..<40).map { "text-\($0)-" + String(repeating: "\($0 % 10)", count: 200) }
        private let site: ServerSite

        init() async throws {
            site = try await ServerSite()
            let server = try site.start()
            let url = try await server.url()
            for text in Self.sent { #expect(try await site.send(text, to: url) == 200) }
            try await server.stop()
        }

        /// Flips one bit, which the seed selects.
        private func damage(_ path: String, seed: UInt64) throws {
            let file = URL(fileURLWithPath: path)
            var bytes = try Data(contentsOf: file)
            let place = seed &* 0x9E37_79B9_7F4A_7C15 >> 20
            bytes[Int(place % UInt64(bytes.count))] ^= 1 << UInt8(seed % 8)
            try bytes.write(to: file)
        }

        /// Returns the texts that a server delivers before it fails or has no more.
        private func delivered(on copy: String) async throws -> [String] {
            let server = try site.start(on: copy)
            guard let url = try await server.urlIfStarted() else {
                #expect(server.process.errorOutput.contains("Check the disk"), "\(server.process.transcript)")
                return []
            }
            let stream = try site.openStream(url)
            // Deliveries come in order, so the mark comes last. A damaged server may refuse it, or end before it.
            let mark = "mark"
            if try await site.send(mark, to: url) == 200 {
                try await eventually(
                    "the mark is delivered, or the server has failed", evidence: { server.process.transcript }
                ) {
                    stream.texts.contains(mark) || server.process.exit != nil
                        || server.process.errorOutput.contains("store_failed")
                }
            }
            await site.settle(server, stream)
            try await server.process.killNow()
            return stream.texts.filter { $0 != mark }
        }

        @Test(.tags(.slow)) func `a random flipped bit never changes a text, and lost texts are reported`()
            async throws
        {
            for seed in Faults.steps(Array(UInt64(1)...1000), count: 10) {
                let copy = try site.copyData("case-\(seed)")
                try damage("\(copy)/posthorn.sqlite", seed: seed)
                let check = try await site.posthornd("--check", on: copy)
                let delivered = try await delivered(on: copy)
                #expect(Set(delivered).isSubset(of: Self.sent), "seed \(seed)")
                switch check.exit {
                case .code(0): #expect(delivered == Self.sent, "seed \(seed): the check found nothing")
                default:
                    #expect(check.exit == .code(65), "seed \(seed): \(check)")
                    #expect(check.errorOutput.contains("restore"), "seed \(seed): \(check.errorOutput)")
                }
                try FileManager.default.removeItem(atPath: copy)
            }
        }
    }
}
