// SPDX-License-Identifier: Apache-2.0

internal import CCanberra

/// Plays event sounds of the freedesktop sound theme; owns one context of libcanberra.
///
/// One thread. Starting a sound connects to the sound server when that has not happened yet, which waits for the server
/// as long as the server makes it wait: keep this off a thread that must not stall.
package final class SoundPlayer {
    private var context: SoundContext
    private let applicationName: String

    /// Prepares to play; connects with the first sound.
    ///
    /// - Parameter applicationName: What the desktop's volume control shows.
    /// - Throws: `SoundError` when memory ran out or the name has a NUL.
    package init(applicationName: String) throws(SoundError) {
        context = try SoundContext(applicationName: applicationName)
        self.applicationName = applicationName
    }

    /// Starts playing a sound of the theme and returns; falls back along the dashes of the name (`a-b` to `a`).
    ///
    /// - Parameters:
    ///   - name: A name of the sound naming specification; the theme decides which file that is.
    ///   - description: What the desktop's volume control shows.
    /// - Throws: `SoundError`; its `remedy` says what to do.
    package func play(named name: String, description: String) throws(SoundError) {
        // libcanberra makes a path of it.
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")) else { throw .invalid("not a sound's name") }
        try play(CA_PROP_EVENT_ID, name, description)
    }

    /// Starts playing a file and returns.
    ///
    /// - Parameters:
    ///   - file: The path of an Ogg Vorbis or WAV file.
    ///   - description: What the desktop's volume control shows.
    /// - Throws: `SoundError`; its `remedy` says what to do.
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
            // A context whose server restarted does not find the new one by itself; a fresh one does.
            context = try SoundContext(applicationName: applicationName)
            try context.play(properties)
        }
    }
}
