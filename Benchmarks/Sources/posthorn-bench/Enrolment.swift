// SPDX-License-Identifier: Apache-2.0

/// A device of posthornd, as written by `posthorn-bench enrol`.
struct DeviceIdentity {
    let secret: String
    let token: String

    /// Reads a file with a secret and a token in each line.
    static func read(_ path: String) -> [DeviceIdentity] {
        readText(path).split(separator: "\n").map { line in
            let words = line.split(separator: " ")
            guard words.count == 2 else { fail("\(path) is not what `enrol` wrote") }
            return DeviceIdentity(secret: String(words[0]), token: String(words[1]))
        }
    }
}

/// Enrols devices with posthornd: the device, its app, and a channel if one is given.
final class Enrolment: HTTP2Connection {
    private static let outstandingMax = 90

    private enum Step {
        case enrol
        case register(secret: String)
        case subscribe(secret: String, token: String)
    }

    private struct Exchange {
        let step: Step
        var status = 0
        var body: [UInt8] = []
    }

    private let topic: String
    private let channel: String?
    private var remaining: Int
    private let count: Int
    private var exchanges: [UInt32: Exchange] = [:]
    private(set) var devices: [DeviceIdentity] = []

    init(_ loop: Loop, _ target: Target, topic: String, channel: String?, count: Int) {
        self.topic = topic
        self.channel = channel
        self.count = count
        remaining = count
        super.init(loop, target, number: 0)
    }

    func startMore() {
        while isReady, remaining > 0, openStreamCount < Self.outstandingMax {
            remaining -= 1
            start(.enrol)
        }
        if devices.count == count { loop.stop() }
    }

    private func start(_ step: Step) {
        let stream: UInt32
        switch step {
        case .enrol: stream = ask("POST", "/v1/devices", nil, #"{"name":"bench","platform":"linux"}"#)
        case .register(let secret): stream = ask("PUT", "/v1/apps/\(topic)", secret, "")
        case .subscribe(let secret, _):
            stream = ask("PUT", "/v1/apps/\(topic)/channels/\(escaped(channel ?? ""))", secret, "")
        }
        exchanges[stream] = Exchange(step: step)
    }

    private func ask(_ method: String, _ path: String, _ secret: String?, _ body: String) -> UInt32 {
        var fields: [Field] = [
            (":method", method), (":scheme", "https"), (":authority", target.authority), (":path", path),
        ]
        if let secret { fields.append(("authorization", "Bearer \(secret)")) }
        return request(head: HeaderBlocks.literal(fields), path: [], tail: [], body: Array(body.utf8))
    }

    private func escaped(_ text: String) -> String {
        text.map { character in
            switch character {
            case "/": "%2F"
            case "+": "%2B"
            case "=": "%3D"
            default: String(character)
            }
        }.joined()
    }

    override func headersArrived(stream: UInt32, status: Int) { exchanges[stream]?.status = status }

    override func dataArrived(stream: UInt32, _ bytes: UnsafeRawBufferPointer) {
        exchanges[stream]?.body.append(contentsOf: bytes)
    }

    override func streamEnded(_ stream: UInt32) {
        guard let exchange = exchanges.removeValue(forKey: stream) else { fail("an answer to nothing") }
        let text = String(decoding: exchange.body, as: UTF8.self)
        guard (200..<300).contains(exchange.status) else { fail("enrolment: status \(exchange.status): \(text)") }
        let value = exchange.body.withUnsafeBytes { body in
            body.text(after: "\"device_secret\":\"") ?? body.text(after: "\"device_token\":\"") ?? ""
        }
        switch exchange.step {
        case .enrol: start(.register(secret: value))
        case .register(let secret) where channel != nil: start(.subscribe(secret: secret, token: value))
        case .register(let secret): devices.append(DeviceIdentity(secret: secret, token: value))
        case .subscribe(let secret, let token): devices.append(DeviceIdentity(secret: secret, token: token))
        }
    }
}
