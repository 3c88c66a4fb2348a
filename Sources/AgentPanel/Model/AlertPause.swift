// SPDX-License-Identifier: Apache-2.0

/// Which keys and presses of the pointer an alert takes: not those of a person who does something else.
///
/// An alert may come into the middle of a word, or under a finger that presses again and again. Each of both is taken
/// after a pause only, and from then on at once. What is not taken begins the pause anew, and so does a key of a text
/// whenever it comes: who goes on with a sentence after some thought does not mean the alert.
package struct AlertPause: Equatable, Sendable {
    /// For so long no key may have come; people who type rest less between two letters.
    package static let keyMilliseconds: Int64 = 600
    /// For so long after a key of a text: the blank behind a word and Return behind a sentence belong to it.
    package static let textMilliseconds: Int64 = 1500
    /// For so long no press may have come.
    package static let pressMilliseconds: Int64 = 400
    /// A display whose clock differs more from ours has another one.
    private static let clockDifferenceMax: Int64 = 60_000

    /// When the pause is over if nothing disturbs it; nil once it was.
    private var keyEnd: Int64?
    private var pressEnd: Int64?
    /// Keys that are down and belong to something else: they repeat themselves.
    private var heldKeys: Set<UInt32> = []

    /// The window comes; times are milliseconds of any clock that does not jump.
    package init(at time: Int64) {
        keyEnd = time + Self.keyMilliseconds
        pressEnd = time + Self.pressMilliseconds
    }

    /// The window is drawn and in its place; before that nobody could mean it.
    package mutating func appear(at time: Int64) {
        keyEnd = keyEnd.map { max($0, time + Self.keyMilliseconds) }
        pressEnd = pressEnd.map { max($0, time + Self.pressMilliseconds) }
    }

    /// The keyboard comes to the window, perhaps from one in which the person types and holds keys down.
    package mutating func gainKeyboard(at time: Int64, heldKeys: Set<UInt32>) {
        waitForKeys(until: time + Self.keyMilliseconds)
        self.heldKeys = heldKeys
    }

    /// The person begins to type in the alert itself: every key is meant for it.
    package mutating func beginTyping() { keyEnd = nil }

    /// A key goes down, or repeats itself.
    ///
    /// - Parameters:
    ///   - code: Which one of the keyboard it is.
    ///   - isOfText: Whether the person types, and not in the alert.
    ///   - time: When.
    /// - Returns: Whether the alert takes it.
    package mutating func takesKey(_ code: UInt32, isOfText: Bool, at time: Int64) -> Bool {
        guard !isOfText else {
            waitForKeys(until: time + Self.textMilliseconds)
            heldKeys.insert(code)
            return false
        }
        guard let end = keyEnd else { return !heldKeys.contains(code) }
        guard time >= end, !heldKeys.contains(code) else {
            waitForKeys(until: time + Self.keyMilliseconds)
            heldKeys.insert(code)
            return false
        }
        keyEnd = nil
        return true
    }

    private mutating func waitForKeys(until end: Int64) { keyEnd = max(keyEnd ?? end, end) }

    /// A key goes up.
    package mutating func releaseKey(_ code: UInt32) { heldKeys.remove(code) }

    /// The pointer or a finger goes down.
    ///
    /// - Returns: Whether the alert takes it.
    package mutating func takesPress(at time: Int64) -> Bool {
        guard let end = pressEnd else { return true }
        guard time >= end else {
            pressEnd = max(end, time + Self.pressMilliseconds)
            return false
        }
        pressEnd = nil
        return true
    }

    /// Whether a key belongs to a text that is typed: all but those that move about or answer.
    ///
    /// - Parameter symbol: The key as X11 and GDK number them, for example 0xFF0D for Return.
    /// - Returns: Whether it does; those that say how others are meant, as Shift, do not.
    package static func isOfText(symbol: UInt32) -> Bool {
        switch symbol {
        // Space and Return, Tab and Escape, also those of the number block and with Shift.
        case 0x20, 0xFF80, 0xFF0D, 0xFF8D, 0xFE34, 0xFF09, 0xFF89, 0xFE20, 0xFF1B: false
        // Home, arrows, Page Up, Page Down and End.
        case 0xFF50...0xFF57, 0xFF95...0xFF9C: false
        // Shift, Control, Alt and their like, of every layout.
        case 0xFFE1...0xFFEE, 0xFE01...0xFE13, 0xFF7E, 0xFF7F: false
        default: true
        }
    }

    /// When something happened, by our clock: a busy panel hears of it later.
    ///
    /// - Parameters:
    ///   - eventTime: The display's milliseconds, of which X11 and Wayland tell the lower 32 bits; 0 for none.
    ///   - now: Our milliseconds. Where both are of one computer, so is the clock.
    /// - Returns: The event's time, or now where the display has another clock.
    package static func time(ofEvent eventTime: UInt32, now: Int64) -> Int64 {
        let age = Int64(Int32(truncatingIfNeeded: now &- Int64(eventTime)))
        return eventTime != 0 && (0...clockDifferenceMax).contains(age) ? now - age : now
    }
}
