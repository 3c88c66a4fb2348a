// SPDX-License-Identifier: Apache-2.0

/// The command `storm`: devices connect, authenticate, receive the welcome, and disconnect, a fixed number at a time.
final class Storm {
    private let loop = Loop()
    private let peer: Peer
    private let count: Int
    private let parallel: Int
    private let deviceCount: Int
    private let isResumed: Bool
    private var sessions: [OpaquePointer?]
    private var free: [Int]
    private var current: [Device?]
    private var done = 0
    private var started = 0
    private var resumedCount = 0

    init(_ options: Options) {
        peer = Peer(loop, options)
        count = options.number("count")
        parallel = options.number("parallel", 64)
        deviceCount = options.number("devices", 1000)
        isResumed = options.optional("resumed") == "yes"
        sessions = Array(repeating: nil, count: deviceCount)
        current = Array(repeating: nil, count: deviceCount)
        free = Array((0..<deviceCount).reversed())
    }

    /// Runs the storm; with resumption, a first round collects tickets and is not counted.
    ///
    /// The driver reads the server's CPU time at `ready`, and again at the answer.
    func run() {
        if isResumed { round(deviceCount) }
        answer("\"ready\":true")
        _ = readLine()
        resumedCount = 0
        let start = monotonicNanoseconds()
        round(count)
        let seconds = Double(monotonicNanoseconds() - start) / 1e9
        guard !isResumed || resumedCount * 100 >= count * 99 else { fail("only \(resumedCount) of \(count) resumed") }
        guard isResumed || resumedCount == 0 else { fail("\(resumedCount) were resumed") }
        answer("\"count\":\(count),\"seconds\":\(seconds),\"resumed\":\(resumedCount)")
    }

    private func round(_ count: Int) {
        done = 0
        started = 0
        loop.atEndOfTurn = { [unowned self] in
            while started < count, started - done < parallel, let number = free.popLast() { start(number) }
            if done == count { loop.stop() }
            return 100_000_000
        }
        loop.run()
    }

    private func start(_ number: Int) {
        started += 1
        let device = peer.makeDevice(number, session: sessions[number])
        if let session = sessions[number] { freeSession(session) }
        sessions[number] = nil
        current[number] = device
        device.onReady = { [unowned self] in welcomed(number) }
    }

    /// Handles a welcome; the ticket precedes it in the stream, so it has been read.
    private func welcomed(_ number: Int) {
        guard let device = current[number] else { return }
        if device.wasResumed { resumedCount += 1 }
        if isResumed { sessions[number] = device.takeSession() }
        device.close()
        done += 1
        ended.append(device)
        current[number] = nil
        // The oldest is used first, so that the server has seen a device's end before the device reconnects.
        free.insert(number, at: 0)
        if ended.count > 1024 { ended.removeFirst(512) }
    }

    /// Closed connections: a connection must not be freed while it reads, or while the kernel's event list may refer to
    /// it.
    private var ended: [Device] = []
}
