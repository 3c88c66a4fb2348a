// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import TestSupport

/// A random sequence of requests about few apps, devices and channels, so that many of them meet.
struct RandomRequests {
    private static let topics: [TopicName] = ["a", "B", "b.c", "ä", "none"]
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Returns the next request.
    mutating func next() -> StoreRequest {
        switch pick(0..<20) {
        case 0...2: .enrol(newDevice())
        case 3...8: .device(deviceRequest(), by: device().credential)
        case 9: .administer(device().id, administration())
        case 10: .allDevices(question())
        default: .control(controlRequest())
        }
    }

    /// Returns a step of the clock in milliseconds.
    mutating func nextPause() -> Int64 { Int64(pick(0..<5) == 0 ? pick(0..<20_000_000) : pick(0..<3)) }

    /// Returns a broadcast to one of the channels.
    mutating func nextBroadcast(_ topic: TopicID, _ text: String) -> Broadcast {
        let channel = TestChannel(id: channel(), topic: topic, environment: environment())
        return .to(channel, text, expiration: pick(0..<3) == 0 ? 0 : 1_900_000_000)
    }

    /// Returns one of some device tokens; nil without any.
    mutating func nextToken(of tokens: [DeviceTokenContents]) -> DeviceTokenContents? {
        tokens.randomElement(using: &random)
    }

    private mutating func pick(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
    private mutating func flag() -> Bool { Bool.random(using: &random) }
    private mutating func topic() -> TopicName { Self.topics[pick(0..<Self.topics.count)] }
    private mutating func environment() -> Environment { flag() ? .production : .development }
    private mutating func device() -> TestDevice { TestDevice(number: UInt64(pick(1..<6))) }
    private mutating func channel() -> ChannelID { ChannelID(high: UInt64(pick(0..<2)), low: UInt64(pick(0..<3))) }
    private mutating func hash() -> [UInt8] { Array(repeating: UInt8(pick(0..<5) * 60), count: 32) }
    private mutating func name() -> String { ["", "n", "Ünïcode", "longer name"][pick(0..<4)] }
    private mutating func time() -> Timestamp {
        Timestamp(unixSeconds: TestStore.startMilliseconds / 1000 + Int64(pick(-1000..<200_000)))
    }

    private mutating func newDevice() -> StoreRequest.NewDevice {
        device().enrolment(
            codeHash: pick(0..<3) == 0 ? hash() : nil, name: name(), platform: name(),
            requestHash: flag() ? hash() : nil)
    }

    private mutating func deviceRequest() -> DeviceRequest {
        switch pick(0..<14) {
        case 0: .identify
        case 1...4: .register(topic: topic(), environment: environment())
        case 5: .unregister(topic: topic())
        case 6...8: .subscribe(topic: topic(), channel: channel())
        case 9: .unsubscribe(topic: topic(), channel: channel())
        case 10: .subscriptions(topic: topic())
        case 11: .setFilter(refusedTopics: (0..<pick(0..<3)).map { _ in topic() })
        case 12: .policy
        default: pick(0..<4) == 0 ? .remove : .confirmAuthorities(version: Int64(pick(0..<3)))
        }
    }

    private mutating func administration() -> DeviceAdministration {
        switch pick(0..<8) {
        case 0: .remove
        case 1...2: .expire
        case 3...4: .rename(name())
        default: .describe
        }
    }

    private mutating func question() -> AllDevicesRequest {
        switch pick(0..<4) {
        case 0: .list(after: flag() ? device().id : nil, countMax: pick(0..<4))
        case 1: .recipients(TopicID(rawValue: UInt32(pick(1..<4))), countMax: pick(1..<4))
        case 2: .recipients(TopicID(rawValue: UInt32(pick(1..<4))), devices: [device().id, device().id], countMax: 3)
        default: .trust
        }
    }

    private mutating func controlRequest() -> ControlRequest {
        switch pick(0..<32) {
        case 0...3:
            .addApp(
                topic: topic(), name: name(), teamID: "TEAM", checks: flag() ? .strict : .off, allowsBroadcasts: flag())
        case 4:
            .changeApp(
                topic: topic(), name: flag() ? name() : nil, checks: flag() ? .warn : nil,
                allowsBroadcasts: flag() ? flag() : nil)
        case 5: pick(0..<4) == 0 ? .removeApp(topic: topic()) : .app(topic: topic())
        case 6: .apps
        case 7...10: .createChannel(channel(), topic: topic(), environment: environment(), policy: policy())
        case 11: .channel(channel(), topic: topic(), environment: environment())
        case 12: .channels(topic: topic(), environment: flag() ? environment() : nil)
        case 13: .removeChannel(channel(), topic: topic(), environment: environment())
        case 14...19: credentialRequest()
        case 20...22: .policy(policyRequest())
        case 23...25: .quota(quotaRequest())
        case 26: .announceAuthorities(version: Int64(pick(0..<3)))
        case 27: .setWebhook(topic: topic(), url: "https://example.org/\(pick(0..<3))", secret: hash())
        case 28: .removeWebhook(topic: topic())
        case 29: .noteWebhookProblem(TopicID(rawValue: UInt32(pick(1..<4))), name())
        default: .sendToken(sendTokenRequest())
        }
    }

    private mutating func policy() -> MessageStoragePolicy { flag() ? .mostRecentMessageStored : .noMessageStored }

    private mutating func credentialRequest() -> ControlRequest {
        switch pick(0..<9) {
        case 0:
            .addKey(
                SigningKey(
                    id: "KEY\(pick(0..<4))", teamID: "TEAM", topics: flag() ? nil : [topic()], publicKey: hash(),
                    createdAt: time(), environment: flag() ? environment() : nil))
        case 1: .keys
        case 2: .revokeKey(id: "KEY\(pick(0..<4))")
        case 3:
            .addCertificate(
                ProviderCertificate(
                    fingerprint: hash(), serialNumber: "1", teamID: "TEAM", topics: [topic().text], environment: nil,
                    createdAt: time(), expiresAt: time(), revokedAt: pick(0..<3) == 0 ? time() : nil))
        case 4: .certificates
        case 5: .revokeCertificate(hash())
        case 6: .addEnrolmentCode(hash: hash(), expiresAt: time())
        case 7: .enrolmentCodes
        default: .revokeEnrolmentCode(id: Array(hash().prefix(4)))
        }
    }

    private mutating func policyRequest() -> PolicyRequest {
        let key = PolicyRequest.RuleKey(
            device: flag() ? device().id : nil, topic: flag() ? topic() : nil, setting: flag() ? .silent : .sound)
        return switch pick(0..<4) {
        case 0: .all
        case 1: .remove(key)
        default: .set(key, value: name(), isLocked: flag())
        }
    }

    private mutating func quotaRequest() -> QuotaRequest {
        let subject = [
            QuotaSubject(.topic, topic().text), QuotaSubject(.team, "TEAM"), QuotaSubject(.key, "KEY\(pick(0..<4))"),
        ][pick(0..<3)]
        return switch pick(0..<4) {
        case 0: .all
        case 1: .clear(subject)
        case 2: .note([QuotaUse(subject, day: Int64(pick(0..<3)), count: Int64(pick(0..<9)))])
        default: .change(subject, QuotaLimits(rate: flag() ? Int64(pick(0..<9)) : nil, daily: flag() ? 3 : nil))
        }
    }

    private mutating func sendTokenRequest() -> SendTokenRequest {
        switch pick(0..<4) {
        case 0...1: .add(hash: hash(), topic: topic(), name: name(), expiresAt: flag() ? time() : nil)
        case 2: .list(topic: flag() ? topic() : nil)
        default: .revoke(id: Array(hash().prefix(4)))
        }
    }
}
