// SPDX-License-Identifier: Apache-2.0

internal import PushNet

/// Decides which key and pointer presses an alert accepts, so that it ignores input meant for another window.
///
/// An alert may appear while the user types a word or clicks repeatedly. It accepts a key or a press only after a
/// pause, and then all later ones immediately. Input that it ignores restarts the pause. A text key restarts the pause
/// at any time, because a user who continues a sentence does not mean the alert.
///
/// Escape only closes an alert, so it never restarts the pause, and it needs none for an alert that replaced another
/// one in the same window.
struct AlertPause: Equatable, Sendable {
    /// The meaning of a key for an alert.
    enum Key: Equatable, Sendable {
        /// The key types or edits text.
        case text
        case escape
        /// The key navigates, answers, or modifies another key.
        case other
    }

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
    /// The pressed keys that the alert accepted.
    private var takenKeys: Set<UInt32> = []
    /// Whether Escape needs no pause, because the user answered an alert in this window and has typed no text since.
    private var takesEscapeAtOnce = false

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
        takenKeys = []
        takesEscapeAtOnce = false
    }

    /// Restarts both pauses when the window shows the next alert; keys that are still pressed belong to the last one.
    mutating func showNext(at time: MonotonicTime) {
        waitForKeys(until: time.advanced(byMilliseconds: Self.keyMilliseconds))
        pressEnd = time.advanced(byMilliseconds: Self.pressMilliseconds)
        ignoreHeldKeys()
        takesEscapeAtOnce = true
    }

    /// Ignores the keys that are pressed until they are released, because they were meant for what the window showed.
    mutating func ignoreHeldKeys() { heldKeys.formUnion(takenKeys) }

    /// Returns the rest of the pauses in milliseconds; 0 if the alert accepts keys and presses.
    func remainingMilliseconds(at time: MonotonicTime) -> Int64 {
        [keyEnd, pressEnd].compactMap { $0 }.filter { $0 > time }
            // Rounded up, so that the pause is over after this time.
            .map { ($0.nanoseconds(since: time) + 999_999) / 1_000_000 }.max() ?? 0
    }

    /// Ends the key pause when the user starts to type in the alert, because every key is then meant for it.
    mutating func beginTyping() { keyEnd = nil }

    /// Handles a key press or a key repeat.
    ///
    /// - Parameters:
    ///   - code: The hardware key code.
    ///   - key: The key's meaning; no key is a text key while the user types in the alert.
    ///   - time: The time of the event.
    /// - Returns: Whether the alert accepts the key.
    mutating func takesKey(_ code: UInt32, _ key: Key, at time: MonotonicTime) -> Bool {
        let isOver = keyEnd.map { time >= $0 } ?? true
        let isTaken =
            switch key {
            case .text: false
            case .escape: isOver || takesEscapeAtOnce
            case .other: isOver
            }
        guard isTaken, !heldKeys.contains(code) else {
            ignoreKey(code, key, at: time)
            return false
        }
        if key == .other { keyEnd = nil }
        takenKeys.insert(code)
        return true
    }

    private mutating func ignoreKey(_ code: UInt32, _ key: Key, at time: MonotonicTime) {
        switch key {
        case .text:
            waitForKeys(until: time.advanced(byMilliseconds: Self.textMilliseconds))
            takesEscapeAtOnce = false
        case .escape: break
        case .other: if keyEnd != nil { waitForKeys(until: time.advanced(byMilliseconds: Self.keyMilliseconds)) }
        }
        heldKeys.insert(code)
    }

    private mutating func waitForKeys(until end: MonotonicTime) { keyEnd = max(keyEnd ?? end, end) }

    /// Handles a key release.
    mutating func releaseKey(_ code: UInt32) {
        heldKeys.remove(code)
        takenKeys.remove(code)
    }

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

extension AlertPause.Key {
    /// Classifies a key symbol of X11 and GDK, for example 0xFF0D for Return.
    init(symbol: UInt32) {
        switch symbol {
        case 0xFF1B: self = .escape
        // Space, Return and Tab, including the keypad and Shift variants.
        case 0x20, 0xFF80, 0xFF0D, 0xFF8D, 0xFE34, 0xFF09, 0xFF89, 0xFE20: self = .other
        // Home, the arrow keys, Page Up, Page Down and End.
        case 0xFF50...0xFF57, 0xFF95...0xFF9C: self = .other
        // Shift, Control, Alt and the other modifiers of every layout.
        case 0xFFE1...0xFFEE, 0xFE01...0xFE13, 0xFF7E, 0xFF7F: self = .other
        default: self = .text
        }
    }
}
