// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore

/// A device of a test, by its number.
struct TestDevice: Hashable {
    var number: UInt64

    var id: DeviceID { DeviceID(rawValue: number) }
    var secretHash: [UInt8] { (0..<32).map { UInt8(truncatingIfNeeded: number >> ($0 % 8 * 8)) } }
    /// The credential; the secrets of odd devices have the device ID, and those of even devices do not.
    var credential: DeviceCredential {
        DeviceCredential(device: number.isMultiple(of: 2) ? nil : id, secretHash: secretHash)
    }
}

/// The answer to a notification or a broadcast.
enum Acceptance: Equatable {
    case accepted
    case refused(RejectionReason, ended: Int64?)
}

extension RequestTarget {
    /// Enrols a device without a code.
    func enrol(_ number: UInt64 = 1) throws -> TestDevice {
        let device = TestDevice(number: number)
        try succeed(.enrol(device.enrolment()))
        return device
    }

    func addApp(_ topic: TopicName = "com.example.App") throws {
        try succeed(.control(.addApp(topic: topic, name: "App", teamID: "TEAM000000")))
    }

    @discardableResult
    func register(
        _ device: TestDevice, _ topic: TopicName = "com.example.App", in environment: Environment = .production
    ) throws -> DeviceTokenContents {
        let request = StoreRequest.device(.register(topic: topic, environment: environment), by: device.credential)
        guard case .registered(let contents) = try succeed(request) else { throw MissingReply(what: "registered") }
        return contents
    }

    /// Adds an app and registers it on a new device.
    func registeredDevice() throws -> (TestDevice, DeviceTokenContents) {
        try addApp()
        let device = try enrol()
        return (device, try register(device))
    }
}

extension StreamTarget {
    /// Opens a device's stream; returns its address and the replies.
    func attach(_ device: TestDevice) throws -> (ReplyAddress, [StoreReply]) {
        let stream = address()
        return (stream, try run([.attach(device.credential, stream: stream)]))
    }

    func connect(_ device: TestDevice) throws { _ = try attach(device) }

    /// Sends notifications in one batch; returns the answers and all replies.
    func accept(_ notifications: [Notification]) throws -> ([Acceptance], [StoreReply]) {
        let answers = notifications.map { _ in address() }
        let replies = try run(zip(notifications, answers).map { .accept($0, answer: $1) })
        return (try answers.map { try replies.acceptance(at: $0) }, replies)
    }

    @discardableResult
    func accept(_ notification: Notification) throws -> Acceptance { try accept([notification]).0[0] }

    /// Acknowledges notifications on a device; returns the replies.
    func acknowledge(_ device: TestDevice, _ sequences: [Int64]) throws -> [StoreReply] {
        let acknowledgements = sequences.map { DeviceAPI.Acknowledgement(id: $0, outcome: .delivered) }
        return try run([
            .perform(.device(.acknowledge(acknowledgements), by: device.credential), answer: address())
        ])
    }

    /// Opens a stream, closes it again, and returns the texts that waited for the device, up to one window.
    ///
    /// - Parameter device: The device.
    /// - Returns: The texts.
    /// - Throws: `MissingReply`.
    func waiting(_ device: TestDevice) throws -> [String] {
        let (stream, replies) = try attach(device)
        _ = try run([.detach(stream: stream)])
        return replies.delivered(to: stream).map(\.text)
    }
}

extension TestStore {
    /// Sends a notification and waits only for its answer, so that no request writes anything else.
    func acceptAlone(_ notification: Notification) throws {
        let answer = address()
        store.submit([.accept(notification, answer: answer)])
        let replies = try collectors[0].take("an answer") { $0.contains { $0.answers(answer) } }
        guard try replies.acceptance(at: answer) == .accepted else { throw MissingReply(what: "accepted") }
    }
}

extension TestDevice {
    func enrolment(
        codeHash: [UInt8]? = nil, name: String = "desk", platform: String = "linux", requestHash: [UInt8]? = nil
    ) -> StoreRequest.NewDevice {
        StoreRequest.NewDevice(
            codeHash: codeHash, device: id, secretHash: { _ in secretHash }, name: name, platform: platform,
            requestHash: requestHash)
    }
}

extension Notification {
    /// Creates a notification with a text as its payload.
    static func to(
        _ address: DeviceTokenContents, _ text: String, expiration: Int64? = nil, collapseID: String? = nil,
        priority: UInt8? = 10, accepted: Int64 = TestStore.startMilliseconds
    ) -> Notification {
        Notification(
            address: address, apnsID: Array("id of \(text)".utf8), uniqueID: UniqueID(high: 1, low: .max),
            suffixedTopic: "com.example.App", pushType: .alert, priority: priority,
            expiration: expiration.map(Timestamp.init(unixSeconds:)),
            collapseID: collapseID.map { Array($0.utf8) }, payload: Array(text.utf8),
            acceptedAt: Timestamp(unixMilliseconds: accepted))
    }
}

extension PendingNotification {
    var text: String { String(decoding: notification.payload, as: UTF8.self) }
}

extension [StoreReply] {
    /// Returns the notifications that were delivered to a stream, in order.
    func delivered(to stream: ReplyAddress) -> [PendingNotification] {
        flatMap { reply -> [PendingNotification] in
            switch reply {
            case .deliver(let notifications, stream): notifications
            case .broadcast(let broadcast, let streams) where streams.contains(stream): [broadcast]
            default: []
            }
        }
    }

    /// Returns the reason for which a stream was ended; nil if it was not.
    func end(of stream: ReplyAddress) -> StreamEnd? {
        for case .ended(let end, stream) in self { return end }
        return nil
    }
}
