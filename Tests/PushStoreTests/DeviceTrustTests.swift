// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import Testing

@Suite(.bothEngines, .namesEngine) struct DeviceTrustTests {
    private let store: any RequestTarget
    private let desk = TestDevice(number: 1)

    init() throws {
        store = try StoreEngine.open()
        try store.addApp()
        for number in [1, 2, 3] as [UInt64] { _ = try store.enrol(number) }
    }

    private func trust() throws -> [DeviceTrust] {
        guard case .trust(let trust) = try store.succeed(.allDevices(.trust)) else { throw MissingReply(what: "trust") }
        return trust
    }

    @Test func `devices count by the set that they confirmed, until they are removed`() throws {
        #expect(try trust() == [DeviceTrust(confirmedVersion: 0, enrolledUnder: nil, deviceCount: 3)])
        _ = try store.succeed(.device(.confirmAuthorities(version: 7), by: desk.credential))
        #expect(try trust().map(\.confirmedVersion) == [0, 7] && trust().map(\.deviceCount) == [2, 1])
        _ = try store.succeed(.administer(desk.id, .remove))
        #expect(try trust().map(\.deviceCount) == [2])
    }

    @Test func `an unknown secret confirms nothing`() throws {
        let nobody = TestDevice(number: 9)
        #expect(try store.refusal(.device(.confirmAuthorities(version: 7), by: nobody.credential)) == .unauthorized)
        #expect(try trust().map(\.confirmedVersion) == [0])
    }
}
