// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
import PushNet
import PushServing
import PushStore
import Testing

@testable import PushServer

@Suite struct QuotasTests {
    private static let mail = Topic(id: TopicID(rawValue: 1), name: "org.example.Mail", teamID: "TEAM000001")
    private static let chat = Topic(id: TopicID(rawValue: 2), name: "org.example.Chat", teamID: "TEAM000001")
    private static let other = Topic(id: TopicID(rawValue: 3), name: "org.other.App", teamID: "TEAM000002")
    private static let noon = QuotaMoment(
        monotonic: .past.advanced(bySeconds: 9), time: Timestamp(unixSeconds: 20_000 * 86_400 + 43_200))

    /// Takes the quotas of one request, and returns nil, or the seconds after which to retry.
    private func send(
        _ loop: LoopQuotas, _ topic: Topic = mail, key: String = "KEY0000001", at now: QuotaMoment = noon
    ) -> Int64? {
        loop.begin()
        let requestQuotas = loop.requestQuotas(key: key, topic, now)
        let address = DeviceTokenContents(device: DeviceID(rawValue: 1), topic: topic.id, generation: 1)
        do throws(Rejection) {
            try loop.takeRequest(requestQuotas, now)
            try loop.takeNotification(requestQuotas, to: address, now)
            return nil
        } catch {
            #expect(error.reason == .tooManyRequests)
            #expect(error.detail.utf8.allSatisfy { 0x20...0x7E ~= $0 })
            return error.retryAfterSeconds
        }
    }

    private func quotas(
        _ settings: [QuotaSubject: QuotaLimits] = [:], uses: [QuotaUse] = [],
        isShared: Bool = false, _ change: (inout QuotaDefaults) -> Void = { _ in }
    ) -> Quotas {
        var defaults = QuotaDefaults()
        change(&defaults)
        return Quotas(defaults, settings: settings, uses: uses, isShared: isShared)
    }

    @Test func `by default only the rate of a device token is limited`() {
        let loop = LoopQuotas(quotas())
        #expect((0..<1000).allSatisfy { _ in send(loop) == nil })
        #expect(loop.tightest == QuotaState(limit: 1000, remaining: 0, resetSeconds: 10))
        #expect(send(loop) == 1)
        #expect(send(LoopQuotas(quotas { $0.deviceRate = 0 })) == nil)
    }

    @Test func `changed defaults apply to the next request, and what was sent counts`() {
        let quotas = quotas { $0.topic = QuotaLimits(daily: 10) }
        let loop = LoopQuotas(quotas)
        #expect((0..<4).allSatisfy { _ in send(loop) == nil })
        var defaults = QuotaDefaults()
        defaults.topic = QuotaLimits(daily: 5)
        quotas.setDefaults(defaults)
        #expect(send(loop) == nil)
        #expect(send(loop) == 43_200)
        defaults.topic = QuotaLimits()
        defaults.deviceRate = 1
        defaults.deviceBurst = 2
        quotas.setDefaults(defaults)
        #expect((0..<3).map { _ in send(loop) } == [nil, nil, 1])
        // Limits that did not change keep their use.
        quotas.setDefaults(defaults)
        #expect(send(loop) == 1)
    }

    @Test func `an answer shows the limit with the least remaining, and a device's rate only below half`() {
        let loop = LoopQuotas(
            quotas {
                $0.team = QuotaLimits(rate: 1, burst: 10)
                $0.topic = QuotaLimits(rate: 1, burst: 6)
                $0.deviceRate = 1
                $0.deviceBurst = 5
            })
        var heard: [QuotaState?] = []
        for _ in 0..<6 {
            _ = send(loop)
            heard.append(loop.tightest)
        }
        #expect(heard.map { $0?.limit } == [6, 6, 6, 5, 5, 5])
        #expect(heard.map { $0?.remaining } == [5, 4, 3, 1, 0, 0])
        #expect(heard.map { $0?.resetSeconds } == [1, 2, 3, 4, 5, 5])
    }

    @Test func `a request that one limit refuses is not charged to other limits`() {
        let quotas = quotas([
            QuotaSubject(.team, "TEAM000001"): QuotaLimits(rate: 1, burst: 100, daily: 100),
            QuotaSubject(.topic, "org.example.Chat"): QuotaLimits(rate: 1, burst: 2),
            QuotaSubject(.topic, "org.example.Mail"): QuotaLimits(daily: 3),
        ])
        let loop = LoopQuotas(quotas)
        #expect((0..<10).map { _ in send(loop, Self.chat) } == [nil, nil] + Array(repeating: 1, count: 8))
        #expect((0..<10).map { _ in send(loop) } == [nil, nil, nil] + Array(repeating: 43_200, count: 7))
        let team = quotas.quotas(of: QuotaSubject(.team, "TEAM000001"), Self.noon)
        #expect(team.map(\.limit) == [.rate, .daily])
        // The seven notifications over the app's daily limit count as requests, but not as sent.
        #expect(team.map(\.used) == [12, 5] && team.map(\.refused) == [0, 0])
        #expect(quotas.quotas(of: QuotaSubject(.topic, "org.example.Chat"), Self.noon).map(\.refused) == [8])
    }

    @Test func `two loops share a limit, and another team has its own`() {
        let quotas = quotas { $0.team = QuotaLimits(rate: 10, burst: 10) }
        let loops = [LoopQuotas(quotas), LoopQuotas(quotas)]
        #expect((0..<20).count { send(loops[$0 % 2]) == nil } == 10)
        #expect(send(loops[0], Self.chat) == 1, "the same team")
        #expect((0..<20).count { send(loops[$0 % 2], Self.other) == nil } == 10)
    }

    @Test func `a new limit applies to the next request of every loop, and keeps the used count`() {
        let quotas = quotas { $0.topic = QuotaLimits(rate: 5) }
        let loops = [LoopQuotas(quotas), LoopQuotas(quotas)]
        let subject = QuotaSubject(.topic, "org.example.Mail")
        #expect((0..<9).count { send(loops[$0 % 2]) == nil } == 5)
        quotas.set(subject, QuotaLimits(rate: 5, burst: 8))
        #expect((0..<9).count { send(loops[$0 % 2]) == nil } == 3)
        quotas.set(subject, QuotaLimits(rate: 0))
        #expect((0..<9).count { send(loops[$0 % 2]) == nil } == 9)
        #expect(quotas.quotas(of: subject, Self.noon).isEmpty)
        quotas.set(subject, nil)
        #expect(quotas.quotas(of: subject, Self.noon).map(\.allowed) == [5])
        quotas.set(QuotaSubject(.key, "KEY0000001"), QuotaLimits(daily: 1))
        #expect(send(loops[0], Self.other) == nil && send(loops[1], Self.other) == 43_200)
        #expect(send(loops[1], Self.other, key: "KEY0000002") == nil)
    }

    @Test func `the day's count of an earlier run is kept, and another day's is not`() {
        let subject = QuotaSubject(.topic, "org.example.Mail")
        for (day, left) in [(20_000, 1), (19_999, 3), (20_001, 3)] as [(Int64, Int)] {
            let quotas = quotas([subject: QuotaLimits(daily: 3)], uses: [QuotaUse(subject, day: day, count: 2)])
            let loop = LoopQuotas(quotas)
            #expect((0..<9).count { _ in send(loop) == nil } == left, "\(day)")
            #expect(quotas.uses == [QuotaUse(subject, day: 20_000, count: 3)])
        }
    }

    @Test func `bad device tokens have an hourly budget, after which only they are refused`() {
        let quotas = quotas { $0.team = QuotaLimits(badTokens: 2) }
        let loop = LoopQuotas(quotas)
        func takeBad(at now: QuotaMoment) -> Int64? {
            do throws(Rejection) {
                let requestQuotas = loop.requestQuotas(key: "KEY0000001", Self.mail, now)
                try loop.takeBadToken(requestQuotas, of: Self.mail.teamID, now)
                return nil
            } catch {
                return error.retryAfterSeconds
            }
        }
        #expect((0..<3).map { _ in takeBad(at: Self.noon) } == [nil, nil, 1800])
        #expect(send(loop) == nil)
        let later = QuotaMoment(
            monotonic: Self.noon.monotonic.advanced(bySeconds: 1800), time: Self.noon.time)
        #expect(takeBad(at: later) == nil && takeBad(at: later) == 1800)
    }

    @Test func `a team has a budget for bad device tokens by default, and none when it is set to 0`() {
        let quotas = quotas { $0.defaultBadTokensPerTeam = 3 }
        let loop = LoopQuotas(quotas)
        func areTaken(_ team: String, _ count: Int) -> Int {
            (0..<count).count { _ in (try? loop.takeBadToken(RequestQuotas(), of: team, Self.noon)) != nil }
        }
        #expect([areTaken("TEAM000001", 5), areTaken("TEAM000002", 2)] == [3, 2])
        quotas.set(QuotaSubject(.team, "TEAM000001"), QuotaLimits(badTokens: 0))
        #expect(areTaken("TEAM000001", 9) == 9)
        #expect(
            LoopQuotas(self.quotas()).requestQuotas(key: "K", Self.mail, Self.noon).team == nil, "costs nothing before")
    }

    @Test func `a notification that is counted and not stored is refunded`() {
        let quotas = quotas { $0.team = QuotaLimits(daily: 2) }
        let loop = LoopQuotas(quotas)
        #expect(send(loop) == nil && send(loop) == nil && send(loop) != nil)
        let requestQuotas = loop.requestQuotas(key: "KEY0000001", Self.mail, Self.noon)
        CountedNotification(requestQuotas, day: Self.noon.day).refund()
        #expect(send(loop) == nil && send(loop) != nil)
        CountedNotification(requestQuotas, day: Self.noon.day - 1).refund()
        #expect(send(loop) != nil, "yesterday's does not count for today")
    }

    // MARK: Several nodes

    @Test func `two nodes that tell each other their use grant one limit together`() {
        let nodes = (0..<2).map { _ in
            quotas(isShared: true) { $0.topic = QuotaLimits(rate: 1, burst: 10, daily: 12) }
        }
        let loops = nodes.map(LoopQuotas.init)
        let now = QuotaMoment(monotonic: .now, time: .now)
        for _ in 0..<4 { #expect(send(loops[0], at: now) == nil) }
        for _ in 0..<3 { #expect(send(loops[1], at: now) == nil) }
        exchange(nodes)
        #expect(loops[0].remaining(of: Self.mail, now) == [3, 5])
        #expect(loops[1].remaining(of: Self.mail, now) == [3, 5])
        for _ in 0..<3 { #expect(send(loops[1], at: now) == nil) }
        #expect(send(loops[1], at: now) != nil)
        #expect(nodes[1].uses.map(\.count) == [6], "a node stores only its own count")
        exchange(nodes)
        #expect(send(loops[0], at: now) != nil)
        #expect(nodes.allSatisfy { $0.takeRecentUse().isEmpty })
    }

    @Test func `at its start a node counts what others counted on the day, but stores its own count only`() {
        let now = QuotaMoment(monotonic: .now, time: .now)
        let subject = QuotaSubject(.topic, Self.mail.name.text)
        let uses = [
            QuotaUse(subject, day: now.day, count: 2), QuotaUse(subject, day: now.day, count: 3, node: 1),
            QuotaUse(subject, day: now.day, count: 4, node: 2), QuotaUse(subject, day: now.day - 1, count: 50, node: 3),
        ]
        let quotas = quotas(uses: uses, isShared: true) { $0.topic = QuotaLimits(daily: 10) }
        let loop = LoopQuotas(quotas)
        #expect(send(loop, at: now) == nil)
        #expect(send(loop, at: now) != nil)
        #expect(quotas.uses == [QuotaUse(subject, day: now.day, count: 3)])
    }

    @Test func `limits that were set at another node replace those of this one`() {
        let subject = QuotaSubject(.topic, Self.mail.name.text)
        let quotas = quotas([subject: QuotaLimits(daily: 5)])
        let loop = LoopQuotas(quotas)
        #expect((0..<2).allSatisfy { _ in send(loop) == nil })
        quotas.replaceSettings([subject: QuotaLimits(daily: 2)])
        #expect(send(loop) != nil)
        quotas.replaceSettings([:])
        #expect(send(loop) == nil)
    }

    /// Lets each node count what the others have counted since the last call.
    private func exchange(_ nodes: [Quotas]) {
        for (number, uses) in nodes.map({ $0.takeRecentUse() }).enumerated() {
            for (other, node) in nodes.enumerated() where other != number { node.charge(uses, ofNode: Int64(number)) }
        }
    }
}

@Suite struct QuotaLimitsTests {
    @Test func `a stored limit overrides the configuration, and a burst belongs to its rate`() {
        let configured = QuotaLimits(rate: 5, burst: 50, daily: 100)
        #expect(QuotaLimits().or(configured) == configured)
        #expect(QuotaLimits(rate: 9).or(configured) == QuotaLimits(rate: 9, burst: nil, daily: 100))
        #expect(QuotaLimits(burst: 9).or(configured) == QuotaLimits(rate: 5, burst: 9, daily: 100))
        #expect(QuotaLimits(daily: 0, badTokens: 1).or(configured).daily == 0)
    }

    @Test func `a bucket's state names its limit, its remaining tokens and the time until it is full`() {
        let bucket = TokenBucket(of: 5, refilledBy: 2)
        #expect(bucket.state(remaining: 3) == QuotaState(limit: 5, remaining: 3, resetSeconds: 1))
        #expect(bucket.state(remaining: 5) == QuotaState(limit: 5, remaining: 5, resetSeconds: 0))
    }
}

extension LoopQuotas {
    /// Returns the remaining requests and notifications of the day of an app.
    fileprivate func remaining(of topic: Topic, _ now: QuotaMoment) -> [Int64?] {
        let found = requestQuotas(key: "", topic, now).topic
        return [found?.rateState(now)?.remaining, found?.dayState(now)?.remaining]
    }
}
