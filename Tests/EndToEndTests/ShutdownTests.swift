// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ServerEndToEnd {
    /// Sends SIGTERM while requests of strangers wait for the store.
    struct ShutdownTests {
        @Test(.tags(.slow))
        func `streams of strangers that wait for the store do not crash a server that stops`() async throws {
            for round in 0..<20 {
                let server = try await EphemeralServer()
                let strangers = try StrangerPeers(server.target)
                try await strangers.keepAsking(connections: 6)
                try await Task.sleep(for: .milliseconds(20 + 15 * round))
                server.process.send(SIGTERM)
                try await eventually("it accepts nobody", evidence: { server.process.transcript }) {
                    (try? await HTTP2Client(server.target)) == nil
                }
                try await strangers.close()
                let exit = try await server.process.waitForExit()
                #expect(exit == .code(0), "round \(round): \(server.process.transcript)")
            }
        }
    }
}
