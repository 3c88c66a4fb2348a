// SPDX-License-Identifier: Apache-2.0

@testable import DeviceAgent
import PushCore
import Testing

struct PictureSlotsTests {
    private let slots = PictureSlots()

    @Test func `an app gets four slots, and another one when it has released one`() {
        var taken = (0..<4).map { _ in slots.take("org.example.Mail") }
        #expect(taken.allSatisfy { $0 != nil })
        #expect(slots.take("org.example.Mail") == nil)
        #expect(slots.take("org.example.Chat") != nil)
        taken.removeLast()
        #expect(slots.take("org.example.Mail") != nil)
    }

    @Test func `all apps together get sixteen slots`() {
        let apps = (0..<5).map { AppID("org.example.App\($0)") }
        var taken = apps.flatMap { app in (0..<4).compactMap { _ in slots.take(app) } }
        #expect(taken.count == 16)
        taken.removeAll()
        #expect(slots.take(apps[4]) != nil)
    }
}
