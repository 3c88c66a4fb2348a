// SPDX-License-Identifier: Apache-2.0
// The signatures that other modules build on; split into one file per type as they are written.

/// What libcanberra answered.
package struct SoundError: Error, Sendable {
    package var code: Int32
    package var message: String
}

/// Plays event sounds of the freedesktop sound theme; owns one `ca_context *`.
package final class SoundPlayer {
    package init(applicationName: String) throws(SoundError) { preconditionFailure("unwritten") }
    /// Starts playing a sound of the theme and returns; falls back along the dashes of the name (`a-b` to `a`).
    package func play(named name: String, description: String) throws(SoundError) { preconditionFailure("unwritten") }
    /// Starts playing a file and returns.
    package func play(file: String, description: String) throws(SoundError) { preconditionFailure("unwritten") }
}
