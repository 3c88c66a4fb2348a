// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The requests of the providers in a soak.
///
/// Among 100 notifications, 60 wait for their device and 15 have a collapse ID. Another 12 are for immediate delivery
/// only, 10 expire within seconds, and 3 are rejected.
final class SoakRequests {
    private static let collapseIDCount = 3
    private static let run = 1
    private static let broadcastLifeSeconds = 3600

    private let topic: String
    private let fields: [Field]
    private var small = Payload()
    private var large = Payload(byteCount: 4096)
    private var tooLarge = Payload(byteCount: 4097)

    init(topic: String) {
        self.topic = topic
        fields = [("apns-topic", topic), ("apns-push-type", "alert")]
    }

    /// Sends one request; a device with `mayWaitOnly` receives only waiting notifications, so each missing one was
    /// dropped.
    func send(
        to device: Int, _ identity: DeviceIdentity, mayWaitOnly: Bool, by provider: SoakProvider, _ books: SoakBooks,
        _ random: inout SplitMix
    ) {
        let path = "/3/device/\(identity.token)"
        var (kind, detail, more) = (SoakBooks.Kind.plain, 0, [Field]())
        switch random.below(100) {
        case 0..<3: return sendRefused(to: device, path, by: provider, books, &random)
        case 3..<13 where !mayWaitOnly:
            kind = .expiring
            detail = time(nil) + 2 + random.below(9)
            more = [("apns-expiration", "\(detail)")]
        case 13..<25 where !mayWaitOnly:
            kind = .nowOrNever
            more = [("apns-expiration", "0")]
        case 25..<40 where !mayWaitOnly:
            kind = .collapsing
            let id = random.below(Self.collapseIDCount)
            detail = device * Self.collapseIDCount + id
            more = [("apns-collapse-id", "order-\(id)")]
        default: break
        }
        let number = books.add(kind, device: device, detail: detail)
        let body = random.below(20) == 0 ? stamp(&large, number) : stamp(&small, number)
        provider.send(number, expected: 200, path: path, fields: fields + more, body: body)
    }

    private func sendRefused(
        to device: Int, _ path: String, by provider: SoakProvider, _ books: SoakBooks, _ random: inout SplitMix
    ) {
        let number = books.add(.refused, device: device, detail: 0)
        switch random.below(4) {
        case 0:
            provider.send(number, expected: 413, path: path, fields: fields, body: stamp(&tooLarge, number))
        case 1:
            let foreign = "/3/device/" + String(repeating: "0f", count: 32)
            provider.send(number, expected: 400, path: foreign, fields: fields, body: stamp(&small, number))
        case 2:
            let long = [("apns-collapse-id", String(repeating: "c", count: 65))]
            provider.send(number, expected: 400, path: path, fields: fields + long, body: stamp(&small, number))
        default:
            provider.send(
                number, expected: 403, path: path, fields: fields, token: "no.provider.token",
                body: stamp(&small, number))
        }
    }

    /// Sends a broadcast that its channel keeps until the next one.
    func broadcast(_ number: Int, on channel: String, by provider: SoakProvider) {
        small.stamp(run: SoakDevice.broadcastRun, number: number)
        provider.broadcast(
            path: "/4/broadcasts/apps/\(topic)",
            fields: [
                ("apns-channel-id", channel), ("apns-push-type", "liveactivity"), ("apns-priority", "10"),
                ("apns-expiration", "\(time(nil) + Self.broadcastLifeSeconds)"),
            ], body: small.bytes)
    }

    private func stamp(_ payload: inout Payload, _ number: Int) -> [UInt8] {
        payload.stamp(run: Self.run, number: number)
        return payload.bytes
    }
}

/// Sebastiano Vigna's SplitMix64 generator, which produces the same numbers from the same state.
struct SplitMix {
    var state: UInt64

    mutating func below(_ bound: Int) -> Int {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = (state ^ state >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return Int((mixed ^ mixed >> 31) % UInt64(bound))
    }

    /// Returns a random duration from a range in seconds, as nanoseconds.
    mutating func nanoseconds(_ seconds: ClosedRange<Double>) -> Int {
        Int(seconds.lowerBound * 1e9) + below(Int((seconds.upperBound - seconds.lowerBound) * 1e9) + 1)
    }
}
