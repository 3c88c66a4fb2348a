// SPDX-License-Identifier: Apache-2.0

import PushNet
import Testing

@testable import PushServing

@Suite struct ConnectionStateMachineTests {
    /// An event in the life of a connection.
    enum Event: CaseIterable, Sendable {
        case handshakeDone, protocolFound, inputEndsAnswered, inputEndsUnanswered, shutdown, earlyShutdown, busyShutdown
        case limitReached
        case timeIsUp, request, goodbye, flushed, flushedWithOpen, finished, lingers, closes
    }

    /// The properties of a state that its owner can observe.
    struct Summary: Hashable, CustomStringConvertible {
        var phase: String
        var drain: String

        var description: String { drain.isEmpty ? phase : "\(phase), \(drain)" }
    }

    private static func summary(_ machine: borrowing ConnectionStateMachine) -> Summary {
        let phase =
            machine.isHandshaking
            ? "handshaking"
            : machine.isDetecting
                ? "detecting"
                : machine.isLingering
                    ? "lingering" : machine.isClosed ? "closed" : machine.isAnswering ? "answering" : "serving"
        let drain =
            switch machine.drain {
            case .none: ""
            case .awaitingRequest(let reason): "awaiting request \(reason)"
            case .waiting(let reason, let isBusy): "waiting \(reason)\(isBusy ? " busy" : "")"
            case .condemned(let reason): "condemned \(reason)"
            case .closing: "closing"
            }
        return Summary(phase: phase, drain: drain)
    }

    /// Applies an event, and returns the action that it requires.
    private static func apply(
        _ event: Event, to machine: inout ConnectionStateMachine
    ) -> ConnectionStateMachine.Action {
        switch event {
        case .handshakeDone: machine.finishHandshake()
        case .protocolFound: machine.serve()
        case .inputEndsAnswered: return machine.endInput(isAnythingLeft: false)
        case .inputEndsUnanswered: return machine.endInput(isAnythingLeft: true)
        case .shutdown: return machine.beginShutdown(openExchangeCount: 0, isNew: false)
        case .earlyShutdown: return machine.beginShutdown(openExchangeCount: 0, isNew: true)
        case .busyShutdown: return machine.beginShutdown(openExchangeCount: 1, isNew: false)
        case .limitReached: _ = machine.condemn(because: .tooManyRequests)
        case .timeIsUp: _ = machine.wait(because: .idle)
        case .request: machine.noteRequest()
        case .goodbye: machine.sayGoodbye()
        case .flushed:
            return machine.outputSent(isSessionFinished: false, openExchangeCount: 0, isAnythingLeft: false)
        case .flushedWithOpen:
            return machine.outputSent(isSessionFinished: false, openExchangeCount: 1, isAnythingLeft: true)
        case .finished: return machine.outputSent(isSessionFinished: true, openExchangeCount: 0, isAnythingLeft: false)
        case .lingers: machine.linger()
        case .closes: _ = machine.close()
        }
        return .none
    }

    /// A path of events, the state that it leads to, and the action that the last event requires.
    struct Path: Sendable, CustomTestStringConvertible {
        var events: [Event]
        var state: String
        var action = ConnectionStateMachine.Action.none

        var testDescription: String { events.map { "\($0)" }.joined(separator: ", ") }
    }

    private static let paths = [
        Path(events: [], state: "handshaking"),
        Path(events: [.handshakeDone], state: "detecting"),
        Path(events: [.handshakeDone, .protocolFound], state: "serving"),
        Path(events: [.protocolFound], state: "handshaking"),
        Path(events: [.handshakeDone, .protocolFound, .handshakeDone], state: "serving"),
        // Shutdown
        Path(events: [.shutdown], state: "handshaking", action: .close),
        Path(events: [.handshakeDone, .shutdown], state: "detecting", action: .close),
        Path(
            events: [.handshakeDone, .protocolFound, .shutdown], state: "serving, waiting shutdown",
            action: .finish(.shutdown)),
        Path(
            events: [.handshakeDone, .protocolFound, .busyShutdown], state: "serving, waiting shutdown",
            action: .announceLater),
        Path(
            events: [.handshakeDone, .protocolFound, .busyShutdown, .request], state: "serving, waiting shutdown busy"),
        Path(events: [.handshakeDone, .protocolFound, .shutdown, .goodbye], state: "serving, closing"),
        Path(
            events: [.handshakeDone, .protocolFound, .shutdown, .goodbye, .flushed], state: "serving, closing",
            action: .linger),
        Path(
            events: [.handshakeDone, .protocolFound, .busyShutdown, .flushedWithOpen],
            state: "serving, waiting shutdown"),
        Path(
            events: [.handshakeDone, .protocolFound, .busyShutdown, .flushed], state: "serving, waiting shutdown",
            action: .finish(.shutdown)),
        Path(events: [.handshakeDone, .protocolFound, .lingers, .shutdown], state: "lingering"),
        // Shutdown soon after the connection was opened
        Path(events: [.earlyShutdown], state: "handshaking", action: .announceLater),
        Path(
            events: [.earlyShutdown, .handshakeDone, .protocolFound], state: "serving, awaiting request shutdown"),
        Path(
            events: [.handshakeDone, .protocolFound, .earlyShutdown], state: "serving, awaiting request shutdown",
            action: .announceLater),
        Path(
            events: [.earlyShutdown, .handshakeDone, .protocolFound, .flushed],
            state: "serving, awaiting request shutdown"),
        Path(
            events: [.earlyShutdown, .handshakeDone, .protocolFound, .request, .flushedWithOpen],
            state: "serving, waiting shutdown"),
        Path(
            events: [.earlyShutdown, .handshakeDone, .protocolFound, .request, .flushed],
            state: "serving, waiting shutdown", action: .finish(.shutdown)),
        Path(
            events: [.handshakeDone, .protocolFound, .request, .earlyShutdown], state: "serving, waiting shutdown",
            action: .finish(.shutdown)),
        // A limit or a deadline
        Path(
            events: [.handshakeDone, .protocolFound, .limitReached], state: "serving, condemned tooManyRequests"),
        Path(
            events: [.handshakeDone, .protocolFound, .limitReached, .request],
            state: "serving, condemned tooManyRequests"),
        Path(
            events: [.handshakeDone, .protocolFound, .limitReached, .shutdown],
            state: "serving, condemned tooManyRequests"),
        Path(
            events: [.handshakeDone, .protocolFound, .limitReached, .flushed],
            state: "serving, condemned tooManyRequests", action: .finish(.tooManyRequests)),
        Path(events: [.handshakeDone, .protocolFound, .timeIsUp], state: "serving, waiting idle"),
        Path(events: [.handshakeDone, .protocolFound, .timeIsUp, .limitReached], state: "serving, waiting idle"),
        Path(events: [.handshakeDone, .timeIsUp], state: "detecting"),
        // The peer's end
        Path(events: [.handshakeDone, .inputEndsUnanswered], state: "detecting", action: .close),
        Path(events: [.handshakeDone, .protocolFound, .inputEndsAnswered], state: "serving", action: .close),
        Path(events: [.handshakeDone, .protocolFound, .inputEndsUnanswered], state: "answering"),
        Path(
            events: [.handshakeDone, .protocolFound, .inputEndsUnanswered, .flushedWithOpen], state: "answering"),
        Path(
            events: [.handshakeDone, .protocolFound, .inputEndsUnanswered, .flushed], state: "answering",
            action: .linger),
        Path(
            events: [.handshakeDone, .protocolFound, .limitReached, .inputEndsUnanswered],
            state: "answering, condemned tooManyRequests"),
        Path(
            events: [.handshakeDone, .protocolFound, .inputEndsUnanswered, .busyShutdown],
            state: "answering, waiting shutdown", action: .announceLater),
        // The end
        Path(events: [.handshakeDone, .protocolFound, .finished], state: "serving", action: .linger),
        Path(events: [.handshakeDone, .protocolFound, .lingers], state: "lingering"),
        Path(events: [.handshakeDone, .protocolFound, .lingers, .flushed], state: "lingering"),
        Path(events: [.handshakeDone, .protocolFound, .lingers, .closes], state: "closed"),
        Path(events: [.closes, .lingers], state: "closed"),
    ]

    @Test(arguments: paths)
    func `events lead to a state and require an action`(path: Path) {
        var machine = ConnectionStateMachine(isEncrypted: true)
        var action = ConnectionStateMachine.Action.none
        for event in path.events { action = Self.apply(event, to: &machine) }
        #expect(Self.summary(machine).description == path.state)
        #expect(action == path.action)
    }

    @Test func `every sequence of four events keeps the rules`() {
        var failures: [String] = []
        func check(_ events: [Event]) {
            var machine = ConnectionStateMachine(isEncrypted: true)
            for event in events { _ = Self.apply(event, to: &machine) }
            let before = Self.summary(machine)
            var isRight = machine.isServing || before.drain.isEmpty
            isRight = isRight && (!machine.isCondemned || machine.isWaiting)
            let isFirst = machine.close()
            isRight = isRight && isFirst == (before.phase != "closed")
            for event in Event.allCases {
                let action = Self.apply(event, to: &machine)
                isRight = isRight && machine.isClosed && (action == .none || action == .close)
            }
            if !isRight { failures.append("\(events): \(before)") }
        }
        func extend(_ events: [Event], _ count: Int) {
            check(events)
            guard count > 0 else { return }
            for event in Event.allCases { extend(events + [event], count - 1) }
        }
        extend([], 2)
        extend([.handshakeDone, .protocolFound], 2)
        #expect(failures == [])
    }

    @Test func `reading stops while output is full, memory is short, or the peer has ended`() {
        var machine = ConnectionStateMachine(isEncrypted: false)
        machine.serve()
        func events(_ isFlushed: Bool, _ isFull: Bool = false, _ isPaused: Bool = false) -> Readiness {
            machine.awaitedEvents(isFlushed: isFlushed, isFull: isFull, isPaused: isPaused)
        }
        #expect(events(true) == .readable)
        #expect(events(false) == [.readable, .writable])
        #expect(events(false, true) == .writable)
        #expect(events(true, false, true) == [])
        machine.readsAfterWriting = true
        #expect(events(true) == .writable)
        machine.readsAfterWriting = false
        _ = machine.endInput(isAnythingLeft: true)
        #expect(events(true) == [])
        #expect(events(false) == .writable)
    }
}
