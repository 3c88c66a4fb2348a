// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import Testing

@Suite struct DeviceTrustTests {
    private let store: TestStore
    private let desk = TestDevice(number: 1)

    init() throws {
        store = try TestStore()
        try store.addApp()
        for number in [1, 2, 3] as [UInt64] { _ = try store.enrol(number) }
    }

    private func trust() throws -> [DeviceTrust] {
        guard case .trust(let trust) = try store.succeed(.authority(.trust)) else { throw MissingReply(what: "trust") }
        return trust
    }

    @Test func `devices count by the set that they confirmed, until they are removed`() throws {
        #expect(try trust() == [DeviceTrust(confirmedVersion: 0, enrolledUnder: nil, deviceCount: 3)])
        _ = try store.succeed(.authority(.confirm(secretHash: desk.secretHash, version: 7)))
        #expect(try trust().map(\.confirmedVersion) == [0, 7] && trust().map(\.deviceCount) == [2, 1])
        _ = try store.succeed(.removeDevice(desk.id))
        #expect(try trust().map(\.deviceCount) == [2])
    }

    @Test func `an unknown secret confirms nothing`() throws {
        let nobody = TestDevice(number: 9)
        let request = AuthorityRequest.confirm(secretHash: nobody.secretHash, version: 7)
        #expect(try store.refusal(.authority(request)) == .unauthorized)
        #expect(try trust().map(\.confirmedVersion) == [0])
    }
}
