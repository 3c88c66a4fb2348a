// SPDX-License-Identifier: Apache-2.0

import PushCore
@testable import PushStore
import Testing

@Suite(.bothEngines, .namesEngine) struct QuotaTests {
    private let store: any RequestTarget

    init() throws { store = try StoreEngine.open() }

    private func kept() throws -> (settings: [QuotaSubject: QuotaLimits], uses: [QuotaUse]) {
        guard case .quotas(let settings, let uses) = try store.succeed(.control(.quota(.all))) else {
            throw MissingReply(what: "quotas")
        }
        return (settings, uses.sorted { $0.subject.name < $1.subject.name })
    }

    @Test func `a change keeps the limits that it omits, and survives a restart`() throws {
        try store.addApp()
        let (app, team) = (QuotaSubject(.topic, "com.example.App"), QuotaSubject(.team, "TEAM000000"))
        try store.succeed(.control(.quota(.change(app, QuotaLimits(rate: 5, burst: 9)))))
        guard case .quotas(let merged, _) = try store.succeed(.control(.quota(.change(app, QuotaLimits(daily: 0)))))
        else {
            throw MissingReply(what: "quotas")
        }
        #expect(merged == [app: QuotaLimits(rate: 5, burst: 9, daily: 0)])
        try store.succeed(.control(.quota(.change(team, QuotaLimits(badTokens: 7)))))
        try store.reopen()
        #expect(try kept().settings == merged.merging([team: QuotaLimits(badTokens: 7)]) { first, _ in first })
        try store.succeed(.control(.quota(.clear(app))))
        try store.succeed(.control(.quota(.clear(app))))
        #expect(try kept().settings == [team: QuotaLimits(badTokens: 7)])
    }

    @Test func `a limit can be set for an existing app, key or certificate, and for any team`() throws {
        func refusal(_ kind: QuotaSubject.Kind, _ name: String) throws -> StoreRefusal? {
            try store.refusal(.control(.quota(.change(QuotaSubject(kind, name), QuotaLimits(rate: 1)))))
        }
        let digits = String(repeating: "0a", count: 32)
        #expect(try refusal(.topic, "com.example.App") == .unknownTopic)
        #expect(try refusal(.key, "KEY0000001") == .unknownKey)
        #expect(try refusal(.key, digits) == .unknownKey)
        #expect(try refusal(.team, "TEAM999999") == nil)
        try store.addApp()
        try store.succeed(
            .control(
                .addKey(SigningKey(id: "KEY0000001", teamID: "T", topics: nil, publicKey: [1], createdAt: .unixEpoch))))
        try store.succeed(
            .control(
                .addCertificate(
                    ProviderCertificate(
                        fingerprint: Array(repeating: 10, count: 32), serialNumber: "1", teamID: "T", topics: [],
                        environment: nil, createdAt: .unixEpoch, expiresAt: .unixEpoch))))
        #expect(try refusal(.topic, "com.example.App") == nil)
        #expect(try refusal(.key, "KEY0000001") == nil)
        #expect(try refusal(.key, digits) == nil)
        #expect(try kept().settings.count == 4)
    }

    @Test func `clearing refuses an unknown subject, and limits of a removed app can be cleared`() throws {
        try store.addApp()
        func refusal(_ kind: QuotaSubject.Kind, _ name: String) throws -> StoreRefusal? {
            try store.refusal(.control(.quota(.clear(QuotaSubject(kind, name)))))
        }
        #expect(try refusal(.topic, "com.example.Ap") == .unknownTopic)
        #expect(try refusal(.key, "KEY0000001") == .unknownKey)
        #expect(try refusal(.topic, "com.example.App") == nil)
        let app = QuotaSubject(.topic, "com.example.App")
        try store.succeed(.control(.quota(.change(app, QuotaLimits(rate: 1)))))
        try store.succeed(.control(.removeApp(topic: TopicName(app.name))))
        #expect(try refusal(.topic, app.name) == nil)
        #expect(try refusal(.topic, app.name) == .unknownTopic)
    }

    @Test func `the last recorded use counts, also after a restart`() throws {
        let (a, b) = (QuotaSubject(.topic, "a"), QuotaSubject(.team, "b"))
        try store.succeed(
            .control(.quota(.note([QuotaUse(a, day: 20_000, count: 5), QuotaUse(b, day: 20_000, count: 1)]))))
        try store.succeed(.control(.quota(.note([QuotaUse(a, day: 20_001, count: 2)]))))
        try store.reopen()
        #expect(try kept().uses == [QuotaUse(a, day: 20_001, count: 2), QuotaUse(b, day: 20_000, count: 1)])
    }
}
