// SPDX-License-Identifier: Apache-2.0

/// Plays sounds.
package protocol SoundPresenter: AnyObject {
    /// Starts playing and returns.
    ///
    /// - Parameters:
    ///   - sound: Which sound.
    ///   - appID: Whose sounds are looked through.
    ///   - appName: For the volume control.
    ///   - completion: Called once, on the caller's thread: why nothing is heard, nil when the sound server took it.
    func play(_ sound: Sound, appID: String, appName: String, completion: @escaping (SuppressionReason?) -> Void)
}
