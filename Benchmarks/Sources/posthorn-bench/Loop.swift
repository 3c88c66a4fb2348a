// SPDX-License-Identifier: Apache-2.0

internal import CBenchmark
internal import Glibc

/// One epoll set and one buffer for all connections; each turn flushes the output of its connections at its end.
final class Loop {
    private static let eventCountMax = 512
    /// The largest number of events in a turn, at most 512.
    var turnEventCountMax = Loop.eventCountMax
    /// The size of the buffer, larger than a TLS record, so that one read returns a whole record.
    static let bufferByteCount = 64 * 1024

    private let epoll: Int32
    private let events: UnsafeMutableBufferPointer<epoll_event>
    /// The buffer into which all connections read.
    let buffer: UnsafeMutableRawBufferPointer
    private var dirty: [Connection] = []
    private var isStopping = false
    /// Runs at the end of each turn; returns the longest time in nanoseconds that the loop may wait.
    var atEndOfTurn: () -> Int = { 1_000_000_000 }

    init() {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { fail("epoll_create1: errno \(errno)") }
        events = .allocate(capacity: Self.eventCountMax)
        events.initialize(repeating: epoll_event())
        buffer = .allocate(byteCount: Self.bufferByteCount, alignment: 64)
        _ = bench_tight_timers()
    }

    /// Runs turns until `stop` is called.
    func run() {
        isStopping = false
        while !isStopping {
            flush()
            let patience = atEndOfTurn()
            flush()
            guard !isStopping else { return }
            turn(waiting: patience)
        }
    }

    func stop() { isStopping = true }

    private func turn(waiting nanoseconds: Int) {
        var timeout = timespec(tv_sec: nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
        let count = epoll_pwait2(epoll, events.baseAddress, Int32(turnEventCountMax), &timeout, nil)
        guard count >= 0 else {
            guard errno == EINTR else { fail("epoll_pwait2: errno \(errno)") }
            return
        }
        for index in 0..<Int(count) {
            guard let pointer = events[index].data.ptr else { continue }
            let connection = Unmanaged<Connection>.fromOpaque(pointer).takeUnretainedValue()
            connection.ready(events[index].events)
        }
    }

    func markDirty(_ connection: Connection) { dirty.append(connection) }

    private func flush() {
        while !dirty.isEmpty {
            let connections = dirty
            dirty.removeAll(keepingCapacity: true)
            for connection in connections { connection.flush() }
        }
    }

    /// Watches a connection, which its owner retains until it is closed.
    func watch(_ connection: Connection, for flags: EPOLL_EVENTS, isNew: Bool) {
        var event = epoll_event()
        event.events = flags.rawValue
        event.data.ptr = Unmanaged.passUnretained(connection).toOpaque()
        let operation = isNew ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
        guard epoll_ctl(epoll, operation, connection.descriptor, &event) == 0 else { fail("epoll_ctl: errno \(errno)") }
    }
}

/// Returns the nanoseconds of the monotonic clock, which all processes of a machine share.
func monotonicNanoseconds() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Writes a text to a descriptor, bypassing C's buffers.
func write(_ descriptor: Int32, _ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
    }
}

/// Ends the program: a measurement that loses or refuses anything is invalid.
func fail(_ text: String) -> Never {
    write(2, "posthorn-bench: \(text)\n")
    exit(1)
}
