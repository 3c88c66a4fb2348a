// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The command `soak`: a mix of provider and device actions, until the input ends.
///
/// ```
///   start ──▶ sending, devices come and go ──▶ drain: all devices connected, no sending ──▶ balance
/// ```
final class Soak {
    private static let providerCount = 8
    private static let connectingCountMax = 64
    /// The longest time that sending may fall behind before it skips the difference: a pause must not become a burst.
    private static let behindNanosecondsMax = 1_000_000_000
    private static let broadcastSeconds = 10
    private static let checkNanoseconds = 10_000_000

    private struct Place {
        let habit: SoakHabit
        var device: SoakDevice?
        /// The time at which the device disconnects or connects.
        var changeNanoseconds = 0
        var lastBroadcast = -1
    }

    private let loop = Loop()
    private let target: Target
    private let deviceTarget: Target
    private let identities: [DeviceIdentity]
    private let channel: String?
    private let perSecond: Double
    private let books: SoakBooks
    private let requests: SoakRequests
    private var random = SplitMix(state: 1)
    private var providerToken = ""
    private var places: [Place]
    private var providers: [SoakProvider?] = Array(repeating: nil, count: providerCount)
    private var connectingCount = 0
    private var connectionCount = (devices: 0, providers: 0)
    /// Closed connections, which the turn that closed them may still refer to.
    private var ended: [Connection] = []
    private var isSending = false
    private var isDraining = false
    private var isOver = false
    private var due = 0
    private var broadcastDue = 0
    private var broadcastCount = 0
    private var nextCheck = 0

    init(_ options: Options) {
        let port = UInt16(clamping: options.number("port"))
        target = Target(port: port, protocols: "h2")
        deviceTarget = Target(port: port, protocols: nil)
        identities = DeviceIdentity.read(options.text("identities"))
        channel = options.optional("channel")
        perSecond = Double(options.number("rate"))
        books = SoakBooks(count: options.number("rate") * (options.number("seconds", 60) + 60))
        requests = SoakRequests(topic: options.text("topic"))
        places = identities.indices.map { Place(habit: SoakHabit(number: $0)) }
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
            tendProviders(now)
        }
        guard isSending else { return nextCheck - now }
        send(now)
        return max(0, min(due, nextCheck) - monotonicNanoseconds())
    }

    // MARK: Commands

    /// Executes `token T`, `start`, `counts`, `drain` or `balance`, and answers it with one line.
    private func readCommand() {
        var input = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
        guard poll(&input, 1, 0) > 0 else { return }
        guard let line = readLine() else { return loop.stop() }
        let words = line.split(separator: " ").map(String.init)
        switch (words.first, words.count) {
        case ("token", 2):
            providerToken = words[1]
            // The counts and latencies of the period continue.
            return answer("\"renewed\":true")
        case ("start", 1):
            isSending = true
            due = monotonicNanoseconds()
            broadcastDue = due
            // The other devices are away at first. Otherwise all of them would connect at the same time.
            for number in places.indices where places[number].habit.kind != .steady {
                places[number].changeNanoseconds = due + random.nanoseconds(places[number].habit.away)
            }
        case ("counts", 1): break
        case ("drain", 1):
            isSending = false
            isDraining = true
        case ("balance", 1):
            checkLastBroadcast()
            let balance = books.balance(
                isSteady: { [places] in places[$0].habit.kind == .steady },
                mayOverflow: { [places] in places[$0].habit.kind == .rare })
            return answer(balance)
        default: fail("no command \(line)")
        }
        let present = places.count { $0.device?.isReady == true }
        answer(
            books.takeCounts() + ",\"devices\":\(present),\"device_connections\":\(connectionCount.devices),"
                + "\"provider_connections\":\(connectionCount.providers),"
                + "\"outstanding\":\(providers.reduce(0) { $0 + ($1?.openStreamCount ?? 0) })")
    }

    private func checkLastBroadcast() {
        for (number, place) in places.enumerated() {
            let last = place.device?.lastBroadcast ?? place.lastBroadcast
            if channel != nil, last != broadcastCount - 1 {
                books.problem("device \(number) has broadcast \(last) of \(broadcastCount - 1)")
            }
        }
    }

    // MARK: Devices

    /// Connects and disconnects devices: before the start only steady devices connect; during a drain, all stay
    /// connected.
    private func tendDevices(_ now: Int) {
        for number in places.indices {
            let place = places[number]
            if place.device != nil {
                let goes = isDraining ? place.device?.isSilent == true : isSending && place.habit.kind != .steady
                if goes, isDraining || now >= place.changeNanoseconds { disconnect(number, now) }
            } else if isDraining || place.habit.kind == .steady || isSending && now >= place.changeNanoseconds,
                connectingCount < Self.connectingCountMax
            {
                connect(number, now)
            }
        }
    }

    private func connect(_ number: Int, _ now: Int) {
        let habit = places[number].habit
        let device = SoakDevice(
            loop, deviceTarget, number, identities[number], books: books, isSteady: habit.kind == .steady,
            isSilent: !isDraining && habit.kind == .restless && random.below(10) == 0,
            lastBroadcast: places[number].lastBroadcast)
        connectingCount += 1
        connectionCount.devices += 1
        device.onReady = { [unowned self] in connectingCount -= 1 }
        places[number].device = device
        places[number].changeNanoseconds = now + random.nanoseconds(habit.here)
    }

    private func disconnect(_ number: Int, _ now: Int) {
        guard let device = places[number].device else { return }
        if !device.isReady { connectingCount -= 1 }
        places[number].lastBroadcast = device.lastBroadcast
        places[number].device = nil
        places[number].changeNanoseconds = now + random.nanoseconds(places[number].habit.away)
        device.close()
        ended.append(device)
    }

    // MARK: Providers

    /// Replaces connections at their end time: they send no more, and close when all requests are answered.
    private func tendProviders(_ now: Int) {
        for index in providers.indices {
            if let provider = providers[index] {
                guard now >= provider.endNanoseconds || isDraining, provider.isReady, provider.isIdle else { continue }
                provider.close()
                ended.append(provider)
                providers[index] = nil
            }
            if providers[index] == nil, isSending {
                connectionCount.providers += 1
                providers[index] = SoakProvider(
                    loop, target, number: connectionCount.providers, books: books, providerToken: providerToken,
                    endNanoseconds: now + random.nanoseconds(0.1...30))
            }
        }
    }

    private func send(_ now: Int) {
        if now - due > Self.behindNanosecondsMax { due = now }
        if now >= broadcastDue, sendBroadcast(now) { broadcastDue += Self.broadcastSeconds * 1_000_000_000 }
        while due <= now {
            guard sendOne(now) else { return due = now }
            due += Int(1e9 / perSecond)
        }
    }

    /// Sends to a device through its own provider, so that notifications with the same collapse ID stay in order.
    private func sendOne(_ now: Int) -> Bool {
        for _ in 0..<2 * Self.providerCount {
            let number = random.below(places.count)
            guard let provider = providers[number % Self.providerCount], provider.canSend,
                now < provider.endNanoseconds
            else { continue }
            requests.send(
                to: number, identities[number], mayWaitOnly: places[number].habit.kind == .rare, by: provider, books,
                &random)
            return true
        }
        return false
    }

    private func sendBroadcast(_ now: Int) -> Bool {
        guard let channel else { return true }
        guard let provider = providers.compactMap(\.self).first(where: { $0.canSend && now < $0.endNanoseconds }) else {
            return false
        }
        requests.broadcast(broadcastCount, on: channel, by: provider)
        broadcastCount += 1
        return true
    }
}
