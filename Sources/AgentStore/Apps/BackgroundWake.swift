// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// A notification that is to wake an app.
package struct BackgroundWake: Sendable, Equatable {
    package var appID: AppID
    /// The notification's number in the inbox.
    package var entry: Int64

    package init(appID: AppID, entry: Int64) {
        self.appID = appID
        self.entry = entry
    }
}
