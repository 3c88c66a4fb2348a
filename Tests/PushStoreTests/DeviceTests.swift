// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import Testing

@Suite(.bothEngines, .namesEngine) struct DeviceTests {
    private let store: any RequestTarget
    private let app: TopicName = "com.example.App"

    init() throws {
        store = try StoreEngine.open()
        try store.addApp()
    }

    // MARK: Enrolment

    private let code = [UInt8](repeating: 7, count: 32)

    @Test func `an enrolment code works once`() throws {
        try store.succeed(.control(.addEnrolmentCode(hash: code, expiresAt: TestStore.start.advanced(bySeconds: 60))))
        #expect(try store.refusal(.enrol(TestDevice(number: 1).enrolment(codeHash: code))) == nil)
        #expect(try store.refusal(.enrol(TestDevice(number: 2).enrolment(codeHash: code))) == .badEnrolmentCode)
        try store.reopen()
        #expect(try store.refusal(.enrol(TestDevice(number: 3).enrolment(codeHash: code))) == .badEnrolmentCode)
        #expect(try store.counts().devices == 1)
    }

    /// Enrols a device with the code and a request ID; returns the device, or nil if the code was refused.
    private func enrol(_ number: UInt64, requestID: UInt8?) throws -> DeviceID? {
        let new = TestDevice(number: number).enrolment(
            codeHash: code, requestHash: requestID.map { [UInt8](repeating: $0, count: 32) })
        switch try store.perform(.enrol(new)) {
        case .success(.enrolled(let device)): return device
        case .failure(.badEnrolmentCode): return nil
        case let other: throw MissingReply(what: "a device, not \(other)")
        }
    }

    @Test func `an enrolment whose answer was lost can be repeated with its request ID, also after a restart`() throws {
        try store.succeed(.control(.addEnrolmentCode(hash: code, expiresAt: TestStore.start.advanced(bySeconds: 60))))
        #expect(try enrol(1, requestID: 9) == DeviceID(rawValue: 1))
        #expect(try enrol(2, requestID: 9) == DeviceID(rawValue: 1))
        try store.reopen()
        #expect(try enrol(3, requestID: 9) == DeviceID(rawValue: 1))
        #expect(try store.counts().devices == 1)
        #expect(
            try store.refusal(.device(.register(topic: app), by: TestDevice(number: 1).credential)) == .unauthorized)
        let repeated = DeviceCredential(device: DeviceID(rawValue: 1), secretHash: TestDevice(number: 3).secretHash)
        #expect(try store.refusal(.device(.register(topic: app), by: repeated)) == nil)
        #expect(try enrol(4, requestID: 9) == nil)
    }

    @Test(arguments: [UInt8?.none, 8])
    func `a used code is refused with another request ID, and without one`(requestID: UInt8?) throws {
        try store.succeed(.control(.addEnrolmentCode(hash: code, expiresAt: TestStore.start.advanced(bySeconds: 60))))
        #expect(try enrol(1, requestID: 9) == DeviceID(rawValue: 1))
        #expect(try enrol(2, requestID: requestID) == nil)
        #expect(try store.counts().devices == 1)
    }

    @Test func `a repeated enrolment that must keep its device does not concern another one`() throws {
        try store.succeed(.control(.addEnrolmentCode(hash: code, expiresAt: TestStore.start.advanced(bySeconds: 60))))
        var new = TestDevice(number: 1).enrolment(codeHash: code, requestHash: code)
        new.keepsDevice = true
        for _ in 1...2 { try store.succeed(.enrol(new)) }
        var other = TestDevice(number: 2).enrolment(codeHash: code, requestHash: code)
        other.keepsDevice = true
        #expect(try store.refusal(.enrol(other)) == .busy)
        #expect(try store.counts().devices == 1)
    }

    @Test func `an enrolment cannot be repeated after a stream, a removal or the code's expiration`() throws {
        for number in 1...3 as ClosedRange<UInt64> {
            let hash = [UInt8](repeating: UInt8(number), count: 32)
            try store.succeed(
                .control(.addEnrolmentCode(hash: hash, expiresAt: TestStore.start.advanced(bySeconds: 60))))
            let device = TestDevice(number: number)
            try store.succeed(.enrol(device.enrolment(codeHash: hash, requestHash: hash)))
            switch number {
            case 1: try store.connect(device)
            case 2: try store.succeed(.administer(device.id, .remove))
            default: store.clock.now += 61_000
            }
            let again = TestDevice(number: number + 10).enrolment(codeHash: hash, requestHash: hash)
            #expect(try store.refusal(.enrol(again)) == .badEnrolmentCode, "device \(number)")
        }
    }

    @Test(arguments: [(Int64(60_999), true), (61_000, false)])
    func `an enrolment code is valid until the end of its last second`(laterMilliseconds: Int64, isGood: Bool) throws {
        try store.succeed(.control(.addEnrolmentCode(hash: code, expiresAt: TestStore.start.advanced(bySeconds: 60))))
        store.clock.now += laterMilliseconds
        let refusal = try store.refusal(.enrol(TestDevice(number: 1).enrolment(codeHash: code)))
        #expect(refusal == (isGood ? nil : .badEnrolmentCode))
    }

    @Test func `an unknown enrolment code enrols no device`() throws {
        #expect(try store.refusal(.enrol(TestDevice(number: 1).enrolment(codeHash: code))) == .badEnrolmentCode)
        #expect(
            try store.refusal(.device(.register(topic: app), by: TestDevice(number: 1).credential)) == .unauthorized)
    }

    @Test func `an enrolment code cannot be added twice, even after its use`() throws {
        try store.succeed(.control(.addEnrolmentCode(hash: code, expiresAt: .distantFuture)))
        #expect(try store.refusal(.control(.addEnrolmentCode(hash: code, expiresAt: .distantFuture))) == .alreadyExists)
        try store.succeed(.enrol(TestDevice(number: 1).enrolment(codeHash: code)))
        #expect(try store.refusal(.control(.addEnrolmentCode(hash: code, expiresAt: .distantFuture))) == .alreadyExists)
    }

    // MARK: Unused codes

    /// Adds a code whose hash begins with four bytes of this value.
    private func addCode(_ byte: UInt8, expiresAt: Timestamp) throws {
        try store.succeed(.control(.addEnrolmentCode(hash: [UInt8](repeating: byte, count: 32), expiresAt: expiresAt)))
    }

    private func unusedCodes() throws -> [UnusedEnrolmentCode] {
        guard case .success(.enrolmentCodes(let codes)) = try store.perform(.control(.enrolmentCodes)) else {
            throw MissingReply(what: "codes")
        }
        return codes
    }

    @Test func `codes are listed until they are used or expire, in the order of expiration`() throws {
        for (byte, seconds) in [(1, 90), (2, 60), (7, 70)] {
            try addCode(UInt8(byte), expiresAt: TestStore.start.advanced(bySeconds: Int64(seconds)))
        }
        #expect(try unusedCodes().map(\.id) == [2, 7, 1].map { [UInt8](repeating: $0, count: 4) })
        #expect(try unusedCodes().map(\.expiresAt.unixSeconds) == [1_800_000_060, 1_800_000_070, 1_800_000_090])
        try store.succeed(.enrol(TestDevice(number: 1).enrolment(codeHash: code)))
        #expect(try unusedCodes().map(\.id) == [2, 1].map { [UInt8](repeating: $0, count: 4) })
        store.clock.now += 61_000
        #expect(try unusedCodes().map(\.id) == [[1, 1, 1, 1]])
        try store.reopen()
        #expect(try unusedCodes().count == 1)
    }

    @Test func `a revoked code enrols no device, and others still do`() throws {
        try addCode(7, expiresAt: .distantFuture)
        try addCode(8, expiresAt: .distantFuture)
        #expect(try store.refusal(.control(.revokeEnrolmentCode(id: [7, 7, 7, 8]))) == .unknownCode)
        try store.succeed(.control(.revokeEnrolmentCode(id: [7, 7, 7, 7])))
        #expect(try store.refusal(.control(.revokeEnrolmentCode(id: [7, 7, 7, 7]))) == .unknownCode)
        try store.reopen()
        #expect(try store.refusal(.enrol(TestDevice(number: 1).enrolment(codeHash: code))) == .badEnrolmentCode)
        let other = [UInt8](repeating: 8, count: 32)
        #expect(try store.refusal(.enrol(TestDevice(number: 1).enrolment(codeHash: other))) == nil)
    }

    @Test func `a used or expired code cannot be revoked`() throws {
        try addCode(7, expiresAt: .distantFuture)
        try addCode(8, expiresAt: TestStore.start.advanced(bySeconds: 60))
        try store.succeed(.enrol(TestDevice(number: 1).enrolment(codeHash: code, requestHash: code)))
        store.clock.now += 61_000
        for byte in [UInt8(7), 8] {
            #expect(try store.refusal(.control(.revokeEnrolmentCode(id: [byte, byte, byte, byte]))) == .unknownCode)
        }
        #expect(try store.counts().devices == 1)
    }

    @Test func `an enrolment with a taken ID or secret does not use up its code`() throws {
        let first = try store.enrol(1)
        try store.succeed(.control(.addEnrolmentCode(hash: code, expiresAt: .distantFuture)))
        var same = TestDevice(number: 2).enrolment(codeHash: code)
        same.secretHash = { _ in first.secretHash }
        #expect(try store.refusal(.enrol(same)) == .alreadyExists)
        #expect(try store.refusal(.enrol(first.enrolment(codeHash: code))) == .alreadyExists)
        #expect(try store.refusal(.enrol(TestDevice(number: .max).enrolment(codeHash: code))) == .alreadyExists)
        #expect(try store.refusal(.enrol(TestDevice(number: 2).enrolment(codeHash: code))) == nil)
    }

    @Test(arguments: [(0, true), (Limits.displayNameByteCountMax, true), (Limits.displayNameByteCountMax + 1, false)])
    func `a device's name and platform have a size limit in bytes`(byteCount: Int, fits: Bool) throws {
        let name = String(repeating: "n", count: byteCount)
        let device = TestDevice(number: 1)
        #expect(try store.refusal(.enrol(device.enrolment(name: name))) == (fits ? nil : .tooMany))
        let other = TestDevice(number: 2)
        #expect(try store.refusal(.enrol(other.enrolment(platform: name))) == (fits ? nil : .tooMany))
        guard byteCount > 2 else { return }
        let wide = String(repeating: "é", count: byteCount / 2 + byteCount % 2)
        #expect(try store.refusal(.enrol(TestDevice(number: 3).enrolment(name: wide))) == (fits ? nil : .tooMany))
    }

    // MARK: Registration

    @Test func `registering again returns the same token while the registration is valid`() throws {
        let device = try store.enrol()
        let first = try store.register(device)
        #expect(first == DeviceTokenContents(device: device.id, topic: first.topic, generation: 1))
        #expect(try store.register(device) == first)
        try store.reopen()
        #expect(try store.register(device) == first)
        #expect(try store.counts().registrations == 1)
    }

    @Test func `each registration after an unregistration has the next generation`() throws {
        let device = try store.enrol()
        for generation in UInt32(1)...4 {
            #expect(try store.register(device).generation == generation)
            try store.succeed(.device(.unregister(topic: app), by: device.credential))
        }
        #expect(try store.counts().registrations == 0)
    }

    @Test(arguments: ["com.example.Other", "com.example.app", "com.example.App\0", ""])
    func `only an existing topic can be registered`(topic: TopicName) throws {
        let device = try store.enrol()
        #expect(try store.refusal(.device(.register(topic: topic), by: device.credential)) == .unknownTopic)
        #expect(try store.refusal(.device(.unregister(topic: topic), by: device.credential)) == nil)
    }

    @Test func `unregistering does not affect other apps and devices`() throws {
        try store.addApp("com.example.Other")
        let (first, second) = (try store.enrol(1), try store.enrol(2))
        let tokens = [
            try store.register(first), try store.register(first, "com.example.Other"), try store.register(second),
        ]
        for token in tokens { try store.accept(.to(token, "a")) }
        try store.succeed(.device(.unregister(topic: app), by: first.credential))
        #expect(try tokens.map { try store.accept(.to($0, "b")) == .accepted } == [false, true, true])
        #expect(try store.waiting(first) == ["a", "b"])
        #expect(try store.waiting(second) == ["a", "b"])
    }

    // MARK: Filters

    @Test func `a filter drops the pending notifications of its topics and replaces the earlier filter`() throws {
        try store.addApp("com.example.Other")
        let device = try store.enrol()
        let tokens = [try store.register(device), try store.register(device, "com.example.Other")]
        for token in tokens { try store.accept(.to(token, "\(token.topic.rawValue)")) }
        try store.succeed(.device(.setFilter(refusedTopics: [app, app, "unknown"]), by: device.credential))
        #expect(try store.waiting(device) == ["\(tokens[1].topic.rawValue)"])
        #expect(try store.counts().dropped == 1)
        try store.succeed(.device(.setFilter(refusedTopics: []), by: device.credential))
        try store.accept(.to(tokens[0], "again"))
        #expect(try store.waiting(device) == ["\(tokens[1].topic.rawValue)", "again"])
    }

    @Test func `a filter applies to later registrations`() throws {
        let device = try store.enrol()
        try store.succeed(.device(.setFilter(refusedTopics: [app]), by: device.credential))
        let token = try store.register(device)
        #expect(try store.accept(.to(token, "a")) == .accepted)
        #expect(try store.waiting(device) == [])
    }

    @Test(arguments: [(Limits.filterTopicCountMax, true), (Limits.filterTopicCountMax + 1, false)])
    func `a filter has a maximum number of topics`(count: Int, fits: Bool) throws {
        let device = try store.enrol()
        let topics = (0..<count).map { TopicName(String($0)) }
        let refusal = try store.refusal(.device(.setFilter(refusedTopics: topics), by: device.credential))
        #expect(refusal == (fits ? nil : .tooMany))
    }

    @Test(arguments: [(Limits.topicByteCountMax, true), (Limits.topicByteCountMax + 1, false)])
    func `a topic in a filter has a maximum size in bytes`(byteCount: Int, fits: Bool) throws {
        let device = try store.enrol()
        let topics = [TopicName(String(repeating: "t", count: byteCount))]
        let refusal = try store.refusal(.device(.setFilter(refusedTopics: topics), by: device.credential))
        #expect(refusal == (fits ? nil : .tooMany))
    }

    // MARK: Descriptions

    @Test func `an administrator can give a device another name`() throws {
        let device = try store.enrol()
        try store.succeed(.administer(device.id, .rename("kiosk 7")))
        #expect(try store.device(device).name == "kiosk 7")
        #expect(try store.refusal(.administer(TestDevice(number: 99).id, .rename("x"))) == .unknownDevice)
    }

    // MARK: Removal of a device

    @Test func `the ID of a removed device cannot be used again, but its secret can`() throws {
        let device = try store.enrol(1)
        try store.succeed(.administer(device.id, .remove))
        #expect(try store.refusal(.enrol(device.enrolment())) == .alreadyExists)
        var other = TestDevice(number: 2).enrolment()
        other.secretHash = { _ in device.secretHash }
        #expect(try store.refusal(.enrol(other)) == nil)
    }
}
