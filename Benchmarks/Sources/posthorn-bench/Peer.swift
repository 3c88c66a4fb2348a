// SPDX-License-Identifier: Apache-2.0

/// A factory for the connections of one protocol.
final class Peer {
    let name: String
    private let loop: Loop
    /// The nodes of a cluster, or one server; connections take them in turn.
    private let targets: [Target]
    private let deviceTargets: [Target]
    private let identities: [DeviceIdentity]
    private let requests: HTTP2Publisher.Requests?
    private var acknowledgements: [AcknowledgingConnection] = []

    init(_ loop: Loop, _ options: Options) {
        self.loop = loop
        name = options.text("protocol")
        identities = options.optional("identities").map(DeviceIdentity.read) ?? []
        let isHTTP2 = ["posthorn-websocket", "posthorn-events", "posthorn-http2", "nchan", "http2"].contains(name)
        targets = options.ports("port").map { Target(port: $0, protocols: isHTTP2 ? "h2" : nil) }
        // Devices on HTTP/1.1 do not offer ALPN.
        let deviceProtocols = name == "posthorn-http2" ? "h2" : nil
        let devicePorts = options.ports(options.optional("device-port") == nil ? "port" : "device-port")
        deviceTargets = devicePorts.map { Target(port: $0, protocols: deviceProtocols) }
        requests = isHTTP2 ? Self.requests(options, targets[0], identities) : nil
        channel = options.optional("channel")
    }

    private let channel: String?

    private static func requests(
        _ options: Options, _ target: Target, _ identities: [DeviceIdentity]
    ) -> HTTP2Publisher.Requests {
        let paths =
            options.optional("paths").map { readText($0).split(separator: "\n").map(String.init) }
            ?? identities.map { "/3/device/\($0.token)" }
        return HTTP2Publisher.Requests(
            authority: target.authority, fields: options.fields("header"), paths: paths,
            expectedStatuses: Set((options.optional("expect") ?? "200").split(separator: ",").compactMap { Int($0) }),
            broadcast: options.optional("broadcast-path").map { ($0, options.fields("broadcast-header")) })
    }

    /// The number of topics; nil if the protocol accepts any number.
    var topicCount: Int? { requests?.paths.count }

    func makePublisher(_ number: Int) -> Publisher {
        let target = targets[number % targets.count]
        return switch name {
        case "floor": FloorPublisher(loop, target, number: number)
        case "redis": RedisPublisher(loop, target, number: number)
        case "mosquitto": MQTTPublisher(loop, target, number)
        case "nats": NATSPublisher(loop, target, number)
        default:
            if let requests { HTTP2Publisher(loop, target, number, requests) } else { fail("no protocol \(name)") }
        }
    }

    /// Returns extra connections on which devices acknowledge; they must be ready before the devices.
    func makeHelpers() -> [Publisher] {
        guard name == "posthorn-events" else { return [] }
        acknowledgements = (0..<4).map { AcknowledgingConnection(loop, targets[0], number: $0) }
        return acknowledgements
    }

    func makeDevice(_ number: Int, session: OpaquePointer? = nil) -> Device {
        let deviceTarget = deviceTargets[number % deviceTargets.count]
        switch name {
        case "floor": return FloorDevice(loop, deviceTarget, number, session: session)
        case "redis": return RedisDevice(loop, deviceTarget, number)
        case "mosquitto": return MQTTDevice(loop, deviceTarget, number)
        case "nats": return NATSDevice(loop, deviceTarget, number)
        case "nchan": return NchanDevice(loop, deviceTarget, number, channel: channel ?? "d\(number)")
        case "posthorn-websocket":
            return WebSocketDevice(loop, deviceTarget, number, identity(number), session: session)
        case "posthorn-events":
            let helper = acknowledgements.isEmpty ? nil : acknowledgements[number % acknowledgements.count]
            return EventStreamDevice(loop, deviceTarget, number, identity(number), helper, session: session)
        default: fail("no devices for \(name)")
        }
    }

    /// Returns a device that uses an HTTP/2 session.
    func makeHTTP2Device(_ number: Int) -> HTTP2Device {
        HTTP2Device(loop, deviceTargets[number % deviceTargets.count], number, identity(number))
    }

    private func identity(_ number: Int) -> DeviceIdentity {
        guard number < identities.count else { fail("--identities has only \(identities.count) devices") }
        return identities[number]
    }
}
