// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushCore
import TestSupport
import Testing

@testable import PushServer

@Suite struct ReloadTests {
    private func configuration(_ texts: [ConfigurationKey: String]) throws -> ServerConfiguration {
        let flags = texts.sorted { $0.key.rawValue < $1.key.rawValue }.map { (key: $0.key, value: $0.value) }
        return try ServerConfiguration(
            file: nil, flags: flags, environment: ["HOME": "/h"], isRoot: false, readsDefaultFile: false)
    }

    /// A valid value of each setting that differs from the default.
    private static let values: [ConfigurationKey: String] = [
        .dataDirectory: "/other", .listen: "127.0.0.1:1", .developmentListen: "127.0.0.1:2",
        .channelListen: "127.0.0.1:3", .developmentChannelListen: "127.0.0.1:4", .names: "a.example",
        .proxyProtocolFrom: "10.0.0.0/8", .adminSocket: "/s", .metricsListen: "127.0.0.1:5", .loops: "3",
        .connections: "7", .connectionsPerAddress: "7",
        .connectionsBeforeAuthentication: "7", .memoryBudgetMegabytes: "900", .durability: "normal", .trace: "off",
        .storeURL: "postgresql://localhost/posthorn", .acceptPatience: "20", .node: "other",
        .linkAddress: "other.example:2197", .clusterKeyFile: "/k",
        .shards: "postgresql://shard.example/posthorn?sslmode=verify-full",
    ]

    @Test(arguments: ConfigurationKey.allCases.filter(\.needsRestart))
    func `a running server keeps the former value of a setting that needs a restart`(key: ConfigurationKey) throws {
        // Further databases need a first one.
        let base: [ConfigurationKey: String] = key == .shards ? [.storeURL: "postgresql://localhost/posthorn"] : [:]
        func configuration(_ texts: [ConfigurationKey: String]) throws -> ServerConfiguration {
            try self.configuration(texts.merging(base) { given, _ in given })
        }
        let former = try configuration([.deviceRate: "5"])
        let value = try #require(Self.values[key], "there is no other value for \(key.rawValue)")
        let reload = former.reload(try configuration([.deviceRate: "6", key: value]))
        #expect(reload.waiting == [key])
        #expect(reload.applied == [.deviceRate])
        #expect(reload.configuration.quotas.deviceRate == 6)
        let unchanged = try configuration([.deviceRate: "6"])
        #expect("\(summary(reload.configuration))" == "\(summary(unchanged))")
        // The server reports it again as long as it was not restarted.
        #expect(reload.configuration.reload(try configuration([.deviceRate: "6", key: value])).waiting == [key])
    }

    /// The values of a configuration without the function that reads it again.
    private func summary(_ configuration: ServerConfiguration) -> ServerConfiguration {
        var configuration = configuration
        configuration.read = nil
        configuration.texts = [:]
        return configuration
    }

    @Test func `another certificate applies, but the first one and the last one wait for a restart`() throws {
        let own = try configuration([:])
        let first = try configuration([.certificateFile: "/a.pem", .privateKeyFile: "/a.key"])
        let second = try configuration([.certificateFile: "/b.pem", .privateKeyFile: "/a.key"])
        #expect(first.reload(second).applied == [.certificateFile])
        #expect(first.reload(second).configuration.certificateFile == "/b.pem")
        #expect(own.reload(first).waiting == [.certificateFile, .privateKeyFile])
        #expect(own.reload(first).configuration.certificateFile == nil)
        #expect(first.reload(own).configuration.certificateFile == "/a.pem")
    }

    private static let expiries: [(Int64, Int64?)] = [
        (2_678_400, nil), (2_592_000, 30), (1_209_601, 30), (1_209_600, 14), (86_401, 7), (86_400, 1), (1, 1), (0, 0),
        (-1, 0),
    ]

    @Test(arguments: expiries)
    func `an expiry is reported at 30, 14, 7 and 1 days, and after it`(seconds: Int64, days: Int64?) {
        #expect(CertificateValidity.due(seconds: seconds) == days)
    }
}
