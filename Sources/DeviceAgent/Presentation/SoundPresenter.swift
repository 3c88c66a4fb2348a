// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import PushCore

/// Plays the sounds of notifications.
protocol SoundPresenter: AnyObject {
    /// Starts playing and returns.
    ///
    /// - Parameters:
    ///   - sound: The sound.
    ///   - appID: The app whose own sounds are searched first; nil for none.
    ///   - appName: The name in the volume control.
    ///   - completion: Called once, on the caller's thread: nil if the sound server accepted the sound, otherwise the
    ///     reason.
    func play(_ sound: Sound, appID: AppID?, appName: String, completion: @escaping (SuppressionReason?) -> Void)
}
