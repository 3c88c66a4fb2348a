// SPDX-License-Identifier: Apache-2.0

internal import CCanberra

/// A player for event sounds of the freedesktop sound theme; owns one context of libcanberra.
///
/// For use on one thread. Starting a sound connects to the sound server if necessary, and blocks until the server
/// answers: do not use it on a thread that must not stall.
package final class SoundPlayer {
    private var context: SoundContext
    private let applicationName: String

    /// Prepares to play; the first sound connects.
    ///
    /// - Parameter applicationName: The name in the desktop's volume control.
    /// - Throws: `SoundError` when memory ran out or the name contains a NUL.
    package init(applicationName: String) throws(SoundError) {
        context = try SoundContext(applicationName: applicationName)
        self.applicationName = applicationName
    }

    /// Starts a sound of the theme and returns; falls back along the hyphens of the name (`a-b` to `a`).
    ///
    /// - Parameters:
    ///   - name: A name from the sound naming specification; the theme maps it to a file.
    ///   - description: The text in the desktop's volume control.
    /// - Throws: `SoundError`; its `remedy` is the action to take.
    package func play(named name: String, description: String) throws(SoundError) {
        // libcanberra builds a path from the name.
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")) else { throw .invalid("not a sound's name") }
        try play(CA_PROP_EVENT_ID, name, description)
    }

    /// Starts a sound file and returns.
    ///
    /// - Parameters:
    ///   - file: The path of an Ogg Vorbis or WAV file.
    ///   - description: The text in the desktop's volume control.
    /// - Throws: `SoundError`; its `remedy` is the action to take.
    package func play(file: String, description: String) throws(SoundError) {
        guard !file.isEmpty else { throw .invalid("no file") }
        try play(CA_PROP_MEDIA_FILENAME, file, description)
    }

    private func play(_ key: String, _ value: String, _ description: String) throws(SoundError) {
        let properties = try SoundProperties()
        try properties.set(key, value)
        try properties.set(CA_PROP_EVENT_DESCRIPTION, description)
        do {
            try context.play(properties)
        } catch let error where error.remedy == .tryLater {
            // If its server has restarted, a context does not find the new one; a new context does.
            context = try SoundContext(applicationName: applicationName)
            try context.play(properties)
        }
    }
}
