// SPDX-License-Identifier: Apache-2.0

@testable import DeviceAgent
import PushNet
import TestSupport
import Testing

@Suite struct StreamMachineTests {
    enum State: CaseIterable, Sendable { case idle, connecting, open, waiting, refused }

    private func machine(in state: State) -> StreamMachine {
        var machine = StreamMachine()
        switch state {
        case .idle: break
        case .connecting: _ = machine.start(at: .past)
        case .open:
            _ = machine.start(at: .past)
            machine.opened(at: .past)
        case .waiting:
            _ = machine.start(at: .past)
            _ = machine.ended(at: .past, fraction: 1)
        case .refused:
            _ = machine.start(at: .past)
            machine.refuse()
        }
        return machine
    }

    @Test(arguments: State.allCases) func `each event causes the action that its state allows`(state: State) {
        var started = machine(in: state)
        #expect(started.start(at: .past) == ([.idle, .waiting, .refused].contains(state) ? .connect : .none))
        var ended = machine(in: state)
        let wait = ended.ended(at: .past, fraction: 1)
        #expect((wait != .none) == [.connecting, .open].contains(state))
        var timed = machine(in: state)
        #expect(timed.timeIsUp() == (state == .waiting ? .connect : .none))
        var reconnecting = machine(in: state)
        #expect(
            reconnecting.reconnectNow(at: .past) == ([.connecting, .open, .waiting].contains(state) ? .connect : .none))
        var opened = machine(in: state)
        opened.opened(at: .past)
        #expect(opened.isOpen == [.connecting, .open].contains(state))
        var stopped = machine(in: state)
        stopped.stop()
        #expect(!stopped.isOpen && !stopped.isRefused && stopped.timeIsUp() == .none)
        var refused = machine(in: state)
        refused.refuse()
        #expect(refused.isRefused && refused.reconnectNow(at: .past) == .none && refused.timeIsUp() == .none)
    }

    @Test func `the maximum wait doubles from one second to a minute and stays there`() {
        var machine = StreamMachine()
        _ = machine.start(at: .past)
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60, 60] {
            #expect(machine.ended(at: .past, fraction: 1) == .wait(.seconds(seconds)))
            #expect(machine.timeIsUp() == .connect)
        }
    }

    @Test(arguments: [(0.0, 0), (0.25, 250), (1.0, 1000), (7.0, 1000), (-1.0, 0)])
    func `the wait is a random part of the maximum`(fraction: Double, milliseconds: Int) {
        var machine = StreamMachine()
        _ = machine.start(at: .past)
        #expect(machine.ended(at: .past, fraction: fraction) == .wait(.milliseconds(milliseconds)))
    }

    @Test(arguments: [(false, 8), (true, 1)])
    func `a goodbye resets the failure count`(isGoodbye: Bool, waitSeconds: Int) {
        var machine = StreamMachine()
        _ = machine.start(at: .past)
        for _ in 0..<3 {
            _ = machine.ended(at: .past, fraction: 1)
            _ = machine.timeIsUp()
        }
        machine.opened(at: .past)
        #expect(machine.ended(at: .past, fraction: 1, isGoodbye: isGoodbye) == .wait(.seconds(waitSeconds)))
    }

    @Test(arguments: [(4, 8), (5, 1), (6, 1)])
    func `a stream that was open for some seconds resets the failure count`(openSeconds: Int64, waitSeconds: Int) {
        var machine = StreamMachine()
        _ = machine.start(at: .past)
        for _ in 0..<3 {
            _ = machine.ended(at: .past, fraction: 1)
            _ = machine.timeIsUp()
        }
        machine.opened(at: .past.advanced(bySeconds: 5))
        let action = machine.ended(at: .past.advanced(bySeconds: 5 + openSeconds), fraction: 1)
        #expect(action == .wait(.seconds(waitSeconds)))
    }

    @Test func `a node that takes no devices is left for another one within a quarter of a second, eight times`() {
        var machine = StreamMachine()
        _ = machine.start(at: .past)
        for _ in 0..<8 {
            #expect(machine.ended(at: .past, fraction: 1, retryAfter: .zero) == .wait(.milliseconds(250)))
            #expect(machine.timeIsUp() == .connect)
        }
        // Perhaps all nodes refuse the device, so further refusals are failures.
        #expect(machine.ended(at: .past, fraction: 1, retryAfter: .zero) == .wait(.seconds(1)))
        _ = machine.timeIsUp()
        #expect(machine.ended(at: .past, fraction: 1, retryAfter: .zero) == .wait(.seconds(2)))
        _ = machine.timeIsUp()
        machine.opened(at: .past)
        #expect(machine.ended(at: .past, fraction: 1, retryAfter: .zero, isGoodbye: true) == .wait(.seconds(1)))
        _ = machine.timeIsUp()
        #expect(machine.ended(at: .past, fraction: 1, retryAfter: .zero) == .wait(.milliseconds(250)))
    }

    @Test(arguments: [(-5, 1), (30, 31), (3600, 3601), (100_000, 3601)])
    func `the wait that the server requests is added, within an hour`(askedSeconds: Int, waitSeconds: Int) {
        var machine = StreamMachine()
        _ = machine.start(at: .past)
        let action = machine.ended(at: .past, fraction: 1, retryAfter: .seconds(askedSeconds))
        #expect(action == .wait(.seconds(waitSeconds)))
    }

    @Test(arguments: [0, 30]) func `devices that lost the same server reconnect at different times`(asked: Int) {
        var random = SeededGenerator(seed: 2026)
        var counts = [Int](repeating: 0, count: 10)
        for _ in 0..<1000 {
            var machine = StreamMachine()
            _ = machine.start(at: .past)
            // The restart takes a while. At the seventh attempt the maximum is a minute.
            for _ in 0..<6 {
                _ = machine.ended(at: .past, fraction: Double.random(in: 0..<1, using: &random))
                _ = machine.timeIsUp()
            }
            let action = machine.ended(
                at: .past, fraction: Double.random(in: 0..<1, using: &random),
                retryAfter: asked > 0 ? .seconds(asked) : nil)
            guard case .wait(let wait) = action else { return #expect(action == .wait(.zero)) }
            counts[min(9, Int((wait - .seconds(asked)) / .seconds(6)))] += 1
        }
        #expect(counts.allSatisfy { (70...130).contains($0) }, "of 1000 devices in each six seconds: \(counts)")
    }

    @Test(arguments: [(0.0, 450), (1.0, 900), (7.0, 900)])
    func `a server that is not trusted is retried rarely, or at once on another network`(
        fraction: Double, seconds: Int
    ) {
        var machine = StreamMachine()
        #expect(machine.distrusted(fraction: fraction) == .none)
        _ = machine.start(at: .past)
        #expect(machine.distrusted(fraction: fraction) == .wait(.seconds(seconds)))
        #expect(machine.distrusted(fraction: fraction) == .none)
        #expect(machine.reconnectNow(at: .past) == .connect)
    }

    @Test func `nothing cancels a pause that the server requested`() {
        var machine = StreamMachine()
        _ = machine.start(at: .past)
        machine.opened(at: .past)
        _ = machine.ended(at: .past, fraction: 0, retryAfter: .seconds(60))
        #expect(machine.reconnectNow(at: .past.advanced(bySeconds: 20)) == .wait(.seconds(40)))
        machine.stop()
        #expect(machine.start(at: .past.advanced(bySeconds: 59)) == .wait(.seconds(1)))
        #expect(machine.reconnectNow(at: .past.advanced(bySeconds: 60)) == .connect)
    }

    @Test func `a clock that runs backwards does not reset failures or crash`() {
        var machine = StreamMachine()
        _ = machine.start(at: .past)
        machine.opened(at: MonotonicTime(nanoseconds: 100))
        #expect(machine.ended(at: .past, fraction: 1) != .none)
    }
}
