// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceAPIEndToEnd {
    /// Checks a device that opens its stream over WebSocket and then does not read it.
    struct UnreadStreamTests {
        private let server: InstalledServer
        private let provider: APNsProvider
        private let stuck: (device: PlainDevice, stream: WebSocketDevice)
        private let other: (device: PlainDevice, stream: WebSocketDevice)

        init() async throws {
            server = try await InstalledServer()
            let target = try await server.addApp("org.example.Mail")
            provider = try await APNsProvider(target)
            let devices = (try await PlainDevice(server, target), try await PlainDevice(server, target))
            stuck = (devices.0, try WebSocketDevice(server, secret: devices.0.secret))
            other = (devices.1, try WebSocketDevice(server, secret: devices.1.secret))
        }

        private static let perRound = 32
        private static let payload = #"{"aps":{"alert":"\#(String(repeating: "x", count: 4_000))"}}"#
        /// The maximum growth of memory, far below the bytes sent and far above the needs of two devices.
        private static let growthKilobytesMax = 16 * 1024

        private func send(to device: PlainDevice, count: Int) async throws {
            let notifications = Array(
                repeating: SentNotification(token: device.token, payload: Self.payload), count: count)
            for result in try await provider.send(notifications, concurrency: count) { #expect(result.status == 200) }
        }

        /// Delivers a notification to the other device, which must not wait for the stuck one.
        private func serveOther() async throws {
            try await send(to: other.device, count: 1)
            let id = try #require(try await other.stream.receive().notificationID)
            try await other.stream.say(Self.acknowledgements(id...id))
        }

        private static func acknowledgements(_ ids: ClosedRange<Int>) -> String {
            let list = ids.map { #"{"id":\#($0),"outcome":"delivered"}"# }.joined(separator: ",")
            return #"{"acks":[\#(list)]}"#
        }

        private func counts() async throws -> ServerStatus.Counts { try await server.admin.status().counts }

        private func residentKilobytes() throws -> Int {
            let status = try String(contentsOfFile: "/proc/\(server.process.now.identifier)/status", encoding: .utf8)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
            return try #require(Int(line.filter(\.isNumber)))
        }

        /// Sends in rounds and acknowledges unread notifications, so that more is sent, until the server drops the
        /// stream.
        private func fillStream() async throws {
            var isDropped = false
            for round in 1...200 where !isDropped {
                try await send(to: stuck.device, count: Self.perRound)
                try await serveOther()
                let last = round * (Self.perRound + 1)
                // This fails once the server has dropped the stream, which the next lines detect.
                try? await stuck.stream.frame(1, Self.acknowledgements(max(1, last - 2 * Self.perRound)...last))
                isDropped = try await eventualValue("all is acknowledged, or it is dropped") {
                    let counts = try await counts()
                    return counts.devicesConnected == 1 ? true : counts.pending == 0 ? false : nil
                }
            }
            #expect(isDropped)
        }

        @Test(.tags(.slow))
        func `a device that stops reading delays no other, is dropped, and gets the rest on reconnecting`()
            async throws
        {
            #expect(try await stuck.stream.connect(roomByteCount: 4096).status == 101)
            // The other device must answer pings while the test waits until the server drops the stuck one.
            #expect(try await other.stream.connectByLibrary() == "posthorn.v1")
            try await stuck.stream.stopReading()
            let before = try residentKilobytes()
            try await fillStream()
            // A sanitizer keeps freed memory for a while.
            if !Patience.isSanitized { #expect(try residentKilobytes() - before < Self.growthKilobytesMax) }
            try await serveOther()
            try await eventually("the other one's is acknowledged") { try await counts().pending == Self.perRound }
            #expect(try await stuck.stream.connect().status == 101)
            for _ in 0..<Self.perRound {
                let id = try #require(try await stuck.stream.nextNotificationID())
                try await stuck.stream.frame(1, Self.acknowledgements(id...id))
            }
            try await eventually("all is acknowledged") { try await counts().pending == 0 }
        }
    }
}
