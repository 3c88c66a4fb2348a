// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// Decides which key and pointer presses an alert accepts, so that it ignores input meant for another window.
///
/// An alert may appear while the user types a word or clicks repeatedly. It accepts a key or a press only after a
/// pause, and then all later ones immediately. Input that it ignores restarts the pause. A text key restarts the pause
/// at any time, because a user who continues a sentence does not mean the alert.
struct AlertPause: Equatable, Sendable {
    /// The pause without any key, in milliseconds; users who type pause for less between two letters.
    static let keyMilliseconds: Int64 = 600
    /// The pause after a text key, in milliseconds, because a space or Return after a text still belongs to it.
    static let textMilliseconds: Int64 = 1500
    /// The pause without any pointer press, in milliseconds.
    static let pressMilliseconds: Int64 = 400
    /// The maximum difference between event time and local time, in milliseconds; beyond it, the clocks are unrelated.
    private static let clockDifferenceMax: Int64 = 60_000

    /// The end of the key pause if no key comes; nil once the pause has ended.
    private var keyEnd: MonotonicTime?
    private var pressEnd: MonotonicTime?
    /// The pressed keys that the alert ignores; they repeat until they are released.
    private var heldKeys: Set<UInt32> = []

    /// Starts both pauses when the window is created.
    init(at time: MonotonicTime) {
        keyEnd = time.advanced(byMilliseconds: Self.keyMilliseconds)
        pressEnd = time.advanced(byMilliseconds: Self.pressMilliseconds)
    }

    /// Restarts the pauses when the window is drawn at its position; the user could not see it before.
    mutating func appear(at time: MonotonicTime) {
        keyEnd = keyEnd.map { max($0, time.advanced(byMilliseconds: Self.keyMilliseconds)) }
        pressEnd = pressEnd.map { max($0, time.advanced(byMilliseconds: Self.pressMilliseconds)) }
    }

    /// Restarts the key pause when the window gets the keyboard focus; `heldKeys` were pressed in another window.
    mutating func gainKeyboard(at time: MonotonicTime, heldKeys: Set<UInt32>) {
        waitForKeys(until: time.advanced(byMilliseconds: Self.keyMilliseconds))
        self.heldKeys = heldKeys
    }

    /// Ends the key pause when the user starts to type in the alert, because every key is then meant for it.
    mutating func beginTyping() { keyEnd = nil }

    /// Handles a key press or a key repeat.
    ///
    /// - Parameters:
    ///   - code: The hardware key code.
    ///   - isOfText: Whether it is a text key while the user does not type in the alert.
    ///   - time: The time of the event.
    /// - Returns: Whether the alert accepts the key.
    mutating func takesKey(_ code: UInt32, isOfText: Bool, at time: MonotonicTime) -> Bool {
        guard !isOfText else {
            waitForKeys(until: time.advanced(byMilliseconds: Self.textMilliseconds))
            heldKeys.insert(code)
            return false
        }
        guard let end = keyEnd else { return !heldKeys.contains(code) }
        guard time >= end, !heldKeys.contains(code) else {
            waitForKeys(until: time.advanced(byMilliseconds: Self.keyMilliseconds))
            heldKeys.insert(code)
            return false
        }
        keyEnd = nil
        return true
    }

    private mutating func waitForKeys(until end: MonotonicTime) { keyEnd = max(keyEnd ?? end, end) }

    /// Handles a key release.
    mutating func releaseKey(_ code: UInt32) { heldKeys.remove(code) }

    /// Handles a press of the pointer or a finger.
    ///
    /// - Returns: Whether the alert accepts it.
    mutating func takesPress(at time: MonotonicTime) -> Bool {
        guard let end = pressEnd else { return true }
        guard time >= end else {
            pressEnd = max(end, time.advanced(byMilliseconds: Self.pressMilliseconds))
            return false
        }
        pressEnd = nil
        return true
    }

    /// Returns whether a key is a text key: any key except modifiers and keys that navigate or answer.
    ///
    /// - Parameter symbol: The key symbol of X11 and GDK, for example 0xFF0D for Return.
    /// - Returns: Whether it is a text key.
    static func isOfText(symbol: UInt32) -> Bool {
        switch symbol {
        // Space, Return, Tab and Escape, including the keypad and Shift variants.
        case 0x20, 0xFF80, 0xFF0D, 0xFF8D, 0xFE34, 0xFF09, 0xFF89, 0xFE20, 0xFF1B: false
        // Home, the arrow keys, Page Up, Page Down and End.
        case 0xFF50...0xFF57, 0xFF95...0xFF9C: false
        // Shift, Control, Alt and the other modifiers of every layout.
        case 0xFFE1...0xFFEE, 0xFE01...0xFE13, 0xFF7E, 0xFF7F: false
        default: true
        }
    }

    /// Converts the time of an event to the local clock, because a busy panel receives events late.
    ///
    /// - Parameters:
    ///   - eventTime: The lower 32 bits of the display's milliseconds, as X11 and Wayland report them; 0 if unknown.
    ///   - now: The local time, of the same clock if display and panel are on one computer.
    /// - Returns: The time of the event; `now` if the display has an unrelated clock.
    static func time(ofEvent eventTime: UInt32, now: MonotonicTime) -> MonotonicTime {
        let age = Int64(Int32(truncatingIfNeeded: now.nanoseconds / 1_000_000 - Int64(eventTime)))
        return eventTime != 0 && (0...clockDifferenceMax).contains(age) ? now.advanced(byMilliseconds: -age) : now
    }
}
