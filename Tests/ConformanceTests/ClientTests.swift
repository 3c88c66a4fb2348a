// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// Runs client libraries as users install them, with only the address of the server changed.
@Suite(.tags(.slow)) struct ClientTests {
    /// The results that a client reports, in the client's own terms.
    private struct Report: Decodable {
        let accepted: String
        let refused: [String: String]
        let gone: String
        let goneAt: Int64?
        let batch: [String: Int]

        private enum CodingKeys: String, CodingKey {
            case accepted, refused, gone, batch
            case goneAt = "gone_at"
        }
    }

    @Test(arguments: UnmodifiedClient.all)
    func `an unmodified client understands success, refusals, 410 and the answers of a batch`(
        client: UnmodifiedClient
    ) async throws {
        let server = try await FullServer()
        let report = try await run(client, server).decoded(Report.self)
        #expect(report.accepted == "accepted")
        #expect(report.refused.count >= 2)
        for (reason, heard) in report.refused { #expect(heard == reason) }
        #expect(report.gone == "Unregistered")
        if client.tellsTime {
            let now = Int64(Date().timeIntervalSince1970 * 1000)
            #expect((now - 600_000...now).contains(try #require(report.goneAt)))
        }
        #expect(report.batch == client.wantedBatch)
        let token = try #require(server.variables["APNS_TOKEN"])
        let acceptedCount = 1 + UnmodifiedClient.batchCount
        try await eventually("the device gets what was accepted, and no more") {
            try await server.admin.received().count { $0.token == token } == acceptedCount
        }
        #expect(try await server.admin.status().counts.accepted == acceptedCount)
    }

    @Test func `a thousand streams that aioapns opens before it has read SETTINGS are all answered`() async throws {
        let server = try await FullServer()
        let aioapns = try #require(UnmodifiedClient.all.first { $0.name == "aioapns" })
        let result = try await run(aioapns, server, arguments: ["burst"])
        #expect(result.output == "1000\n", "\(result.errorOutput)")
        #expect(try await server.admin.status().counts.accepted == 1000)
    }

    private func run(
        _ client: UnmodifiedClient, _ server: FullServer, arguments: [String] = []
    ) async throws -> ProgramResult {
        let python = try await client.python()
        let script = "\(ConformanceRun.programs)/clients/\(client.script)"
        let environment = ["PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "1"].merging(server.variables) { $1 }
        return try await RunningProcess.run(
            python, [script] + arguments, environment: environment, within: .seconds(60)
        ).succeeded()
    }
}
