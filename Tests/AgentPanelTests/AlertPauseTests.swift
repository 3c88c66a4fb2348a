// SPDX-License-Identifier: Apache-2.0

@testable import AgentPanel
import PushNet
import Testing

struct AlertPauseTests {
    /// An event, and whether the alert accepts it.
    enum Step: Sendable {
        case drawn(Int64)
        case keyboard(Int64, held: Set<UInt32>)
        case key(UInt32, Int64, isTaken: Bool)
        /// A press of a key that types text.
        case letter(UInt32, Int64)
        case escape(UInt32, Int64, isTaken: Bool)
        /// The window shows the next alert.
        case next(Int64)
        case typing
        case keyUp(UInt32)
        case press(Int64, isTaken: Bool)
    }

    @Test(arguments: keys)
    func `keys are accepted after a pause without key presses`(steps: [Step]) { walk(steps) }

    private static let keys: [[Step]] = [
        // A key before the end of the pause is ignored. Once one is accepted, all later ones are.
        [.key(9, 599, isTaken: false), .keyUp(9), .key(9, 1199, isTaken: true), .key(10, 1200, isTaken: true)],
        [.key(9, 600, isTaken: true), .key(9, 610, isTaken: true)],
        // Continuous typing keeps the pause running.
        (1...20).map { Step.key(UInt32($0), $0 * 590, isTaken: false) } + [.key(36, 20 * 590 + 600, isTaken: true)],
        // A held key repeats, and the first repeat may come after the pause.
        [.key(9, 100, isTaken: false), .key(9, 1100, isTaken: false), .key(9, 1130, isTaken: false)],
        [.keyboard(10, held: [9]), .key(9, 1100, isTaken: false), .keyUp(9), .key(9, 1700, isTaken: true)],
        // Another key is pressed while one is held.
        [.keyboard(10, held: [9]), .key(36, 610, isTaken: true), .key(9, 1300, isTaken: false)],
        // Another window takes the keyboard focus, and the alert gets it back.
        [
            .key(9, 700, isTaken: true), .keyboard(900, held: []), .key(36, 1400, isTaken: false), .keyUp(36),
            .key(36, 2000, isTaken: true),
        ],
        // The pause starts when the alert has been drawn.
        [.drawn(500), .key(9, 1099, isTaken: false), .press(899, isTaken: false), .press(1299, isTaken: true)],
    ]

    @Test(arguments: escapes)
    func `Escape does not restart the pause, and closes the later alerts of a series immediately`(steps: [Step]) {
        walk(steps)
    }

    private static let escapes: [[Step]] = [
        // Presses at 4 per second close the first alert after its pause, and each of the others at once.
        [
            .escape(9, 250, isTaken: false), .keyUp(9), .escape(9, 500, isTaken: false), .keyUp(9),
            .escape(9, 750, isTaken: true), .next(750), .keyUp(9), .escape(9, 1000, isTaken: true), .next(1000),
            .keyUp(9), .escape(9, 1250, isTaken: true),
        ],
        // A key that is held since the last alert repeats, and answers only one alert.
        [
            .escape(9, 600, isTaken: true), .next(600), .escape(9, 1100, isTaken: false),
            .escape(9, 1900, isTaken: false), .keyUp(9), .escape(9, 2000, isTaken: true),
        ],
        // A press during the pause repeats until its release, also after the pause.
        [.escape(9, 400, isTaken: false), .escape(9, 900, isTaken: false), .keyUp(9), .escape(9, 901, isTaken: true)],
        // Return and a press of the pointer wait for each alert.
        [
            .escape(9, 600, isTaken: true), .next(600), .key(36, 1199, isTaken: false), .keyUp(36),
            .key(36, 1799, isTaken: true), .press(999, isTaken: false), .press(1399, isTaken: true),
        ],
        // Escape does not end the pause of the other keys.
        [.escape(9, 700, isTaken: true), .letter(10, 710), .keyUp(9), .key(36, 1400, isTaken: false)],
        // A user who types text or comes from another window does not mean the alert.
        [.next(100), .letter(10, 200), .escape(9, 1699, isTaken: false), .keyUp(9), .escape(9, 1700, isTaken: true)],
        [
            .next(100), .keyboard(200, held: []), .escape(9, 799, isTaken: false), .keyUp(9),
            .escape(9, 800, isTaken: true),
        ],
    ]

    @Test func `the rest of the pause is known until both pauses have ended`() {
        var pause = AlertPause(at: .past)
        func rest(_ time: Int64) -> Int64 { pause.remainingMilliseconds(at: Self.moment(time)) }
        #expect(rest(0) == 600 && rest(599) == 1 && rest(600) == 0)
        #expect(pause.takesKey(9, .text, at: Self.moment(1000)) == false)
        #expect(rest(1000) == 1500 && rest(2500) == 0)
        pause.beginTyping()
        #expect(rest(1000) == 0)
        pause.showNext(at: Self.moment(5000))
        #expect(rest(5000) == 600)
        #expect(pause.takesKey(10, .escape, at: Self.moment(5001)) == true, "Escape needs no pause")
    }

    @Test(arguments: texts)
    func `a key that types text is never accepted, and starts a longer pause each time`(steps: [Step]) { walk(steps) }

    private static let texts: [[Step]] = [
        // Return follows a sentence immediately, and later after a moment of thought.
        [.letter(9, 2500), .keyUp(9), .key(36, 2600, isTaken: false), .keyUp(36), .key(36, 4000, isTaken: true)],
        [.letter(9, 2500), .key(36, 3999, isTaken: false), .keyUp(36), .key(36, 4599, isTaken: true)],
        // An event that ended the first pause does not shorten the second.
        [.key(50, 2490, isTaken: true), .letter(9, 2500), .key(65, 2590, isTaken: false), .letter(10, 9000)],
        [.letter(9, 2500), .key(36, 4000, isTaken: true), .letter(9, 4001), .key(36, 5500, isTaken: false)],
        // A space that is typed during the pause does not shorten it.
        [.letter(9, 2500), .key(65, 2600, isTaken: false), .keyUp(65), .key(36, 3900, isTaken: false)],
        // Pointer presses do not wait for this pause, and the alert's own text field accepts all keys.
        [.letter(9, 390), .press(400, isTaken: true), .typing, .key(9, 401, isTaken: false), .keyUp(9)]
            + (1...9).map { Step.key(9, 401 + $0, isTaken: true) },
        // The text field loses this exemption when another window takes the focus.
        [.typing, .key(10, 510, isTaken: true), .keyboard(600, held: []), .key(36, 700, isTaken: false)],
    ]

    @Test(
        arguments: [
            (0x61, .text), (0xE9, .text), (0x7D0, .text), (0x0100_4E2D, .text), (0xFE51, .text), (0xFF08, .text),
            (0xFFFF, .text), (0xFFB1, .text), (0xFF20, .text), (0x20, .other), (0xFF0D, .other), (0xFF8D, .other),
            (0xFF1B, .escape), (0xFF09, .other), (0xFE20, .other), (0xFF50, .other), (0xFF53, .other), (0xFF57, .other),
            (0xFF9A, .other), (0xFFE1, .other), (0xFFE9, .other), (0xFE03, .other),
        ] as [(UInt32, AlertPause.Key)])
    func `letters and accents type text, arrows and function keys do not`(symbol: UInt32, key: AlertPause.Key) {
        #expect(AlertPause.Key(symbol: symbol) == key)
    }

    @Test(arguments: presses)
    func `a pointer press is accepted after a pause without presses`(steps: [Step]) { walk(steps) }

    private static let presses: [[Step]] = [
        [.press(399, isTaken: false), .press(798, isTaken: false), .press(1198, isTaken: true)],
        [.press(400, isTaken: true), .press(401, isTaken: true)],
        // A series of presses began before the window appeared.
        (1...40).map { Step.press($0 * 30, isTaken: false) } + [.press(40 * 30 + 400, isTaken: true)],
        // Keys do not delay pointer presses, and pointer presses do not delay keys.
        [.key(9, 390, isTaken: false), .press(400, isTaken: true), .key(10, 990, isTaken: true)],
        // A press needs no keyboard focus.
        [.press(500, isTaken: true), .keyboard(500, held: []), .press(510, isTaken: true)],
        // An event that the panel receives late does not shorten the pause.
        [.press(-50, isTaken: false), .press(399, isTaken: false)],
    ]

    private static func moment(_ milliseconds: Int64) -> MonotonicTime { .past.advanced(byMilliseconds: milliseconds) }

    private func walk(_ steps: [Step]) {
        var pause = AlertPause(at: .past)
        for step in steps {
            switch step {
            case .drawn(let time): pause.appear(at: Self.moment(time))
            case .keyboard(let time, let held): pause.gainKeyboard(at: Self.moment(time), heldKeys: held)
            case .key(let code, let time, let isTaken):
                #expect(pause.takesKey(code, .other, at: Self.moment(time)) == isTaken, "\(step) of \(steps)")
            case .letter(let code, let time):
                #expect(pause.takesKey(code, .text, at: Self.moment(time)) == false, "\(step) of \(steps)")
            case .escape(let code, let time, let isTaken):
                #expect(pause.takesKey(code, .escape, at: Self.moment(time)) == isTaken, "\(step) of \(steps)")
            case .next(let time): pause.showNext(at: Self.moment(time))
            case .typing: pause.beginTyping()
            case .keyUp(let code): pause.releaseKey(code)
            case .press(let time, let isTaken):
                #expect(pause.takesPress(at: Self.moment(time)) == isTaken, "\(step) of \(steps)")
            }
        }
    }

    @Test(arguments: times)
    func `an event's own timestamp is used when the display shares our clock`(event: UInt32, now: Int64, time: Int64) {
        #expect(AlertPause.time(ofEvent: event, now: Self.moment(now)) == Self.moment(time))
    }

    private static let times: [(UInt32, Int64, Int64)] = [
        (5000, 5000, 5000), (4000, 5000, 4000), (5001, 5000, 5000), (0, 5000, 5000), (90_000_000, 5000, 5000),
        (UInt32.max, 1 << 32, (1 << 32) - 1), (7, (5 << 32) + 9, (5 << 32) + 7), (1, 60_001, 1), (1, 60_002, 60_002),
    ]
}
