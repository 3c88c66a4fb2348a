// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The command `load`: publishers and devices of one server, controlled by lines of standard input.
final class LoadSession {
    /// The number of concurrent handshakes while devices connect for another measurement.
    private static let connectingCountMax = 64

    private let loop = Loop()
    private let peer: Peer
    private let load: Load
    private let publishers: [Publisher]
    private let helpers: [Publisher]
    private var devices: [Connection] = []
    private var connectingCount = 0
    private var connectedCount = 0

    init(_ options: Options) {
        peer = Peer(loop, options)
        publishers = (0..<options.number("publishers", 16)).map(peer.makePublisher)
        helpers = peer.makeHelpers()
        let topicCount = options.number("topics", peer.topicCount ?? 1000)
        load = Load(
            loop, publishers, topicCount: topicCount, isDelivered: options.optional("delivered") == "yes",
            mayArriveAgain: options.optional("again") == "yes")
        for helper in helpers { helper.load = load }
        waitUntil { [publishers, helpers] in (publishers + helpers).allSatisfy(\.isReady) }
    }

    /// Runs the loop until a condition holds.
    private func waitUntil(checkingEvery nanoseconds: Int = 100_000_000, _ condition: @escaping () -> Bool) {
        guard !condition() else { return }
        loop.atEndOfTurn = { [loop] in
            if condition() { loop.stop() }
            return nanoseconds
        }
        loop.run()
    }

    /// Executes commands until the input ends.
    func run() {
        answer("\"ready\":true")
        while let line = nextCommand() {
            let words = line.split(separator: " ").map(String.init)
            guard let command = words.first else { continue }
            let numbers = words.dropFirst().compactMap(Double.init)
            answer("\"command\":\"\(line)\"," + perform(command, numbers))
        }
    }

    /// Returns the next line of the input.
    ///
    /// Connections are served while the input is empty; the driver writes one line at a time.
    ///
    /// - Returns: The line; nil at the end of the input.
    private func nextCommand() -> String? {
        waitUntil(checkingEvery: 20_000_000) {
            var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
            return poll(&input, 1, 0) > 0
        }
        return readLine()
    }

    private func perform(_ command: String, _ numbers: [Double]) -> String {
        switch (command, numbers.count) {
        case ("closed", 2): return load.perform(Int(numbers[0]), .closed(outstanding: Int(numbers[1])))
        case ("open", 2): return load.perform(Int(numbers[1]), .open(perSecond: numbers[0]))
        case ("singly", 2): return load.performSingly(Int(numbers[1]), perSecond: numbers[0])
        case ("connect", 1): return connect(Int(numbers[0]), atOnce: Self.connectingCountMax)
        case ("broadcast", 0): return load.broadcast(by: publishers[0], to: devices.count)
        case ("serve", 1): return serve(numbers[0])
        case ("disconnect", 0):
            for device in devices { device.close() }
            devices = []
            return "\"devices\":0"
        case ("drain", 3):
            let total = Int(numbers[0]) * Int(numbers[1])
            // The devices of a storm are different machines. In a long turn, the generator would make hundreds of
            // handshakes, hold back the requests of these devices, and then send all of them at the same moment.
            loop.turnEventCountMax = 16
            load.startDrain()
            let connected = connect(Int(numbers[0]), atOnce: Int(numbers[2]))
            waitUntil { [load] in load.drained >= total }
            return connected + ",\"drained\":\(load.drained),\"drain_seconds\":\(load.drainSeconds)"
        default: fail("no command \(command) with \(numbers.count) numbers")
        }
    }

    /// Serves the connections for some seconds.
    private func serve(_ seconds: Double) -> String {
        let end = monotonicNanoseconds() + Int(seconds * 1e9)
        loop.atEndOfTurn = { [loop] in
            let rest = end - monotonicNanoseconds()
            if rest <= 0 { loop.stop() }
            return max(0, rest)
        }
        loop.run()
        return "\"seconds\":\(seconds)"
    }

    /// Connects devices until `count` are connected.
    private func connect(_ count: Int, atOnce: Int) -> String {
        let start = monotonicNanoseconds()
        connectedCount = devices.count
        loop.atEndOfTurn = { [unowned self] in
            while devices.count < count, connectingCount < atOnce { addDevice() }
            if connectedCount == count { loop.stop() }
            return 100_000_000
        }
        if connectedCount < count { loop.run() }
        return "\"devices\":\(devices.count),\"connect_seconds\":\(Double(monotonicNanoseconds() - start) / 1e9)"
    }

    private func addDevice() {
        connectingCount += 1
        let number = devices.count
        let onReady: () -> Void = { [unowned self] in
            connectingCount -= 1
            connectedCount += 1
        }
        if peer.name == "posthorn-http2" {
            let device = peer.makeHTTP2Device(number)
            device.load = load
            device.onReady = onReady
            devices.append(device)
        } else {
            let device = peer.makeDevice(number)
            device.load = load
            device.onReady = onReady
            devices.append(device)
        }
    }
}
