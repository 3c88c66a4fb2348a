// SPDX-License-Identifier: Apache-2.0

import PushCore
@testable import PushStore
import Testing

@Suite struct PowerTests {
    private func connected(
        delay milliseconds: Int64
    ) throws -> (TestStore, TestDevice, DeviceTokenContents, ReplyAddress) {
        let store = try TestStore { $0.powerSavingDelayMilliseconds = milliseconds }
        let (device, token) = try store.registeredDevice()
        let (stream, _) = try store.attach(device)
        try store.succeed(.device(.setPower(isSaving: true), by: device.credential))
        return (store, device, token, stream)
    }

    @Test func `while a device saves power, low-priority notifications wait for the next high-priority one`() throws {
        let (store, _, token, stream) = try connected(delay: 3_600_000)
        let slow = try store.accept([.to(token, "a", priority: 5), .to(token, "b", priority: 1)])
        #expect(slow.0 == [.accepted, .accepted])
        #expect(slow.1.delivered(to: stream).isEmpty)
        #expect(try store.accept([.to(token, "c")]).1.delivered(to: stream).map(\.text) == ["a", "b", "c"])
    }

    @Test func `a low-priority notification waits no longer than the limit`() throws {
        let (store, _, token, stream) = try connected(delay: 20)
        store.store.submit([.accept(.to(token, "a", priority: 5), answer: store.address())])
        let replies = try store.collectors[0].take("the delivery") { !$0.delivered(to: stream).isEmpty }
        #expect(replies.delivered(to: stream).map(\.text) == ["a"])
    }

    @Test func `the end of power saving releases the waiting notifications`() throws {
        let (store, device, token, stream) = try connected(delay: 3_600_000)
        #expect(try store.accept([.to(token, "a", priority: 5)]).1.delivered(to: stream).isEmpty)
        let request = StoreRequest.device(.setPower(isSaving: false), by: device.credential)
        let replies = try store.run([.perform(request, answer: store.address())])
        #expect(replies.delivered(to: stream).map(\.text) == ["a"])
    }

    @Test func `a device that does not save power gets all notifications immediately`() throws {
        let store = try TestStore()
        let (device, token) = try store.registeredDevice()
        let (stream, _) = try store.attach(device)
        #expect(try store.accept([.to(token, "a", priority: 1)]).1.delivered(to: stream).map(\.text) == ["a"])
    }

}
