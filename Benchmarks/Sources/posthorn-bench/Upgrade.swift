// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The command `upgrade`: providers send at a constant rate to connected devices while the server is replaced, or while
/// one node of a cluster stops.
///
/// The command `outage`: providers keep requests outstanding on each connection while no node can store, and never
/// repeat one. Some devices stay away until the end.
final class Upgrade {
    private static let providerCount = 8
    private static let connectingCountMax = 64
    private static let checkNanoseconds = 10_000_000
    private static let restNanoseconds = 200_000_000
    /// The time that a device waits before it connects again, as the agent does.
    private static let returnSeconds = 0.05...3.0

    private struct Place {
        var device: UpgradeDevice?
        var returnNanoseconds = 0
        /// The time at which the last stream ended; nil while the device is connected, and before its first stream.
        var lostNanoseconds: Int?
        /// The number of streams that a cluster has refused since then.
        var failureCount = 0
    }

    private let loop = Loop()
    /// The nodes of a cluster, or one server.
    private let targets: [Target]
    private let deviceTargets: [Target]
    private let identities: [DeviceIdentity]
    private let topic: String
    private let perSecond: Double
    /// The number of outstanding requests on each connection in an outage; nil in an upgrade.
    private let outstandingCount: Int?
    /// The number of devices that are away, at the end of `identities`; `return N` lets the first N of them connect.
    private var awayCount: Int
    private let books: UpgradeBooks
    private var payload = Payload()
    private var random = SplitMix(state: 1)
    private var providerToken = ""
    private var places: [Place]
    private var providers: [UpgradeProvider] = []
    private var nextProvider = 0
    private var connectionCount = 0
    /// The requests that must be sent again.
    private var again: [UpgradeProvider.Exchange] = []
    /// Closed connections, kept until the end of the turn, because that turn may still use them.
    private var ended: [Connection] = []
    private var isSending = false
    private var due = 0
    private var nextCheck = 0

    init(_ options: Options) {
        let ports = options.ports("port")
        targets = ports.map { Target(port: $0, protocols: "h2") }
        deviceTargets = ports.map { Target(port: $0, protocols: nil) }
        identities = DeviceIdentity.read(options.text("identities"))
        topic = options.text("topic")
        awayCount = options.number("away", 0)
        if options.command == "outage" {
            (perSecond, outstandingCount) = (0, options.number("outstanding"))
            books = OutageBooks(count: options.number("count"), firstAway: identities.count - awayCount)
        } else {
            (perSecond, outstandingCount) = (Double(options.number("rate")), nil)
            books = UpgradeBooks(count: options.number("rate") * 120)
        }
        places = identities.map { _ in Place() }
    }

    /// Runs until the input ends.
    func run() {
        answer("\"ready\":true")
        loop.atEndOfTurn = { [unowned self] in self.endTurn() }
        loop.run()
    }

    private func endTurn() -> Int {
        ended = []
        let now = monotonicNanoseconds()
        if now >= nextCheck {
            nextCheck = now + Self.checkNanoseconds
            readCommand()
            tendDevices(now)
            tendProviders()
        }
        while let exchange = again.last, let provider = freeProvider() {
            again.removeLast()
            send(exchange.number, to: exchange.device, by: provider)
        }
        if isSending, let outstandingCount { sendAgain(outstandingCount, now) }
        guard isSending, outstandingCount == nil else { return max(0, nextCheck - now) }
        send(now)
        return max(0, min(due, nextCheck) - monotonicNanoseconds())
    }

    /// Executes `token T`, `start`, `counts`, `period`, `stop` or `return N`, and answers it with one line.
    ///
    /// `period` answers like `counts`, and then starts a new period for the latencies.
    private func readCommand() {
        var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        guard poll(&input, 1, 0) > 0 else { return }
        guard let line = readLine() else { return loop.stop() }
        let words = line.split(separator: " ").map(String.init)
        switch (words.first, words.count) {
        case ("token", 2): providerToken = words[1]
        case ("start", 1): (isSending, due) = (true, monotonicNanoseconds())
        case ("stop", 1): isSending = false
        case ("return", 2):
            awayCount = max(awayCount - (Int(words[1]) ?? 0), 0)
            (books as? OutageBooks)?.firstAway = identities.count - awayCount
        case ("counts", 1), ("period", 1): break
        default: fail("unknown command: \(line)")
        }
        let outstanding = again.count + providers.reduce(0) { $0 + $1.openStreamCount }
        let present = places.count { $0.device?.isReady == true }
        answer(books.counts + ",\"devices\":\(present),\"outstanding\":\(outstanding)")
        if words == ["period"] { books.startPeriod() }
    }

    private func tendDevices(_ now: Int) {
        var connectingCount = places.count { $0.device?.isReady == false }
        for number in places.indices.dropLast(awayCount) {
            if let device = places[number].device {
                if device.isLost { leave(number, device, now) } else if device.isReady { arrive(number, now) }
            } else if now >= places[number].returnNanoseconds, connectingCount < Self.connectingCountMax {
                connectingCount += 1
                // The first streams are spread evenly; later ones go to any node, also to one that refuses them.
                let isFirst = places[number].lostNanoseconds == nil
                let target = deviceTargets[(isFirst ? number : random.below(deviceTargets.count)) % deviceTargets.count]
                places[number].device = UpgradeDevice(loop, target, number, identities[number], books: books)
            }
        }
    }

    private func leave(_ number: Int, _ device: UpgradeDevice, _ now: Int) {
        ended.append(device)
        places[number].device = nil
        places[number].lostNanoseconds = places[number].lostNanoseconds ?? now
        // In a cluster, the pauses are those of the agent in docs/reference/device-protocol.md.
        let pause = targets.count == 1 ? Self.returnSeconds : 0...(device.isRefused ? 0.25 : 1)
        places[number].failureCount += 1
        places[number].returnNanoseconds = now + random.nanoseconds(pause)
    }

    private func arrive(_ number: Int, _ now: Int) {
        guard let lost = places[number].lostNanoseconds else { return }
        books.returned(after: now - lost, wasRefused: places[number].failureCount > 1)
        (places[number].lostNanoseconds, places[number].failureCount) = (nil, 0)
    }

    /// Replaces each provider's connection immediately after a GOAWAY.
    ///
    /// The remaining answers still arrive on the old connection.
    private func tendProviders() {
        for index in providers.indices.reversed() where providers[index].isDone {
            let provider = providers.remove(at: index)
            provider.close()
            ended.append(provider)
        }
        for _ in providers.count(where: { !$0.isLeaving })..<Self.providerCount {
            connectionCount += 1
            let target = targets[connectionCount % targets.count]
            let provider = UpgradeProvider(loop, target, number: connectionCount, books: books)
            if let books = books as? OutageBooks {
                provider.again = { [unowned provider] exchange in
                    guard books.refuse(exchange.number, status: exchange.status) else { return }
                    provider.restNanoseconds = monotonicNanoseconds() + Self.restNanoseconds
                }
            } else {
                provider.again = { [unowned self] in again.append($0) }
            }
            providers.append(provider)
        }
    }

    /// Sends the notifications that are due.
    ///
    /// They are due during a pause too, and their latency is measured from the time at which they were due.
    private func send(_ now: Int) {
        while due <= now {
            let device = random.below(identities.count)
            let number = books.add(to: device)
            if let provider = freeProvider() {
                send(number, to: device, by: provider)
            } else {
                again.append(UpgradeProvider.Exchange(number: number, device: device))
            }
            due += Int(1e9 / perSecond)
        }
    }

    /// Sends until each connection has the given number of outstanding requests.
    private func sendAgain(_ outstandingCount: Int, _ now: Int) {
        for provider in providers where now >= provider.restNanoseconds {
            while provider.canSend, provider.openStreamCount < outstandingCount {
                let device = random.below(identities.count)
                send(books.add(to: device), to: device, by: provider)
            }
        }
    }

    private func freeProvider() -> UpgradeProvider? {
        for _ in providers.indices {
            nextProvider = (nextProvider + 1) % providers.count
            if providers[nextProvider].canSend { return providers[nextProvider] }
        }
        return nil
    }

    private func send(_ number: Int, to device: Int, by provider: UpgradeProvider) {
        payload.stamp(run: 1, number: number)
        let fields: [Field] = [
            (":method", "POST"), (":scheme", "https"), (":authority", provider.target.authority),
            (":path", "/3/device/\(identities[device].token)"), ("authorization", "bearer \(providerToken)"),
            ("apns-topic", topic), ("apns-push-type", "alert"),
        ]
        provider.send(number, to: device, fields: fields, body: payload.bytes)
    }
}
