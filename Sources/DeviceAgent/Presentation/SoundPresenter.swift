// SPDX-License-Identifier: Apache-2.0

/// Plays sounds.
package protocol SoundPresenter: AnyObject {
    /// Starts playing and returns.
    func play(_ sound: Sound, appID: String, appName: String)
}
