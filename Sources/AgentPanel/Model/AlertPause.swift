// SPDX-License-Identifier: Apache-2.0

/// Which keys and presses of the pointer an alert takes: not those of a person who does something else.
///
/// An alert may come into the middle of a word, or under a finger that presses again and again. Each of both is taken
/// after a pause only, and from then on at once. What is not taken begins the pause anew.
package struct AlertPause: Equatable, Sendable {
    /// For so long no key may have come; people who type rest less between two letters.
    package static let keyMilliseconds: Int64 = 600
    /// For so long no press may have come.
    package static let pressMilliseconds: Int64 = 400
    /// A display whose clock differs more from ours has another one.
    private static let clockDifferenceMax: Int64 = 60_000

    /// The end of what disturbs the pause so far; nil once there was one.
    private var keyTime: Int64?
    private var pressTime: Int64?
    /// Keys that are down and belong to something else: they repeat themselves.
    private var heldKeys: Set<UInt32> = []

    /// The window comes; times are milliseconds of any clock that does not jump.
    package init(at time: Int64) {
        keyTime = time
        pressTime = time
    }

    /// The window is drawn and in its place; before that nobody could mean it.
    package mutating func appear(at time: Int64) {
        keyTime = keyTime.map { max($0, time) }
        pressTime = pressTime.map { max($0, time) }
    }

    /// The keyboard comes to the window, perhaps from one in which the person types and holds keys down.
    package mutating func gainKeyboard(at time: Int64, heldKeys: Set<UInt32>) {
        keyTime = max(keyTime ?? time, time)
        self.heldKeys = heldKeys
    }

    /// A key goes down, or repeats itself.
    ///
    /// - Returns: Whether the alert takes it.
    package mutating func takesKey(_ code: UInt32, at time: Int64) -> Bool {
        guard let last = keyTime else { return !heldKeys.contains(code) }
        guard time - last >= Self.keyMilliseconds, !heldKeys.contains(code) else {
            keyTime = max(last, time)
            heldKeys.insert(code)
            return false
        }
        keyTime = nil
        return true
    }

    /// A key goes up.
    package mutating func releaseKey(_ code: UInt32) { heldKeys.remove(code) }

    /// The pointer or a finger goes down.
    ///
    /// - Returns: Whether the alert takes it.
    package mutating func takesPress(at time: Int64) -> Bool {
        guard let last = pressTime else { return true }
        guard time - last >= Self.pressMilliseconds else {
            pressTime = max(last, time)
            return false
        }
        pressTime = nil
        return true
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
