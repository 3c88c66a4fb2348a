// SPDX-License-Identifier: Apache-2.0

internal import AgentStore

/// Plays the sounds of notifications.
protocol SoundPresenter: AnyObject {
    /// Starts playing and returns.
    ///
    /// - Parameters:
    ///   - sound: The sound.
    ///   - appID: The app whose own sounds are searched first.
    ///   - appName: The name in the volume control.
    ///   - completion: Called once, on the caller's thread: nil when the sound server accepted the sound, otherwise the
    ///     reason.
    func play(_ sound: Sound, appID: String, appName: String, completion: @escaping (SuppressionReason?) -> Void)
}
