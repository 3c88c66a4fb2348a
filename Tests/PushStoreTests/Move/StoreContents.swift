// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore

/// The answers of a store to requests that change nothing, and the notifications that wait.
struct StoreContents: Equatable {
    private static let topics: [TopicName] = ["a", "B", "b.c", "ä", "none"]
    private var answers: [String] = []

    /// Sets the clock of the store, so that all devices were last seen at this time, and reads the contents.
    init(_ store: any RequestTarget, at milliseconds: Int64) throws {
        store.clock.now = milliseconds
        let devices = (1..<6).map { TestDevice(number: $0) }
        for device in devices { _ = try store.perform(.device(.identify, by: device.credential)) }
        var requests: [StoreRequest] = [
            .control(.apps), .control(.keys), .control(.certificates), .control(.enrolmentCodes),
            .control(.sendToken(.list(topic: nil))), .control(.quota(.all)), .control(.policy(.all)),
            .allDevices(.list()), .allDevices(.trust),
        ]
        requests += Self.topics.map { .control(.channels(topic: $0, environment: nil)) }
        requests += (1..<6).map { .allDevices(.recipients(TopicID(rawValue: $0), countMax: 100)) }
        for device in devices {
            requests.append(.administer(device.id, .describe))
            requests.append(.device(.policy, by: device.credential))
            requests += Self.topics.map { .device(.subscriptions(topic: $0), by: device.credential) }
        }
        for request in requests { answers.append("\(request): \(try store.perform(request).text)") }
        let counts = try store.counts()
        answers.append("\(counts.apps) \(counts.devices) \(counts.registrations) \(counts.pending)")
        for device in devices { answers.append("\(device.number) waits for \(try store.waiting(device))") }
    }

    /// Returns the answers that only this store or only the other one gives.
    func difference(from other: StoreContents) -> [String] {
        Set(answers).symmetricDifference(other.answers).sorted()
    }
}
