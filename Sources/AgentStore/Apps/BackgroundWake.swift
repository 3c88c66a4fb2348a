// SPDX-License-Identifier: Apache-2.0

package import PushCore

/// A notification that is to wake an app.
package struct BackgroundWake: Sendable, Equatable {
    package var appID: AppID
    /// The notification's entry in the inbox.
    package var entry: EntryID

    package init(appID: AppID, entry: EntryID) {
        self.appID = appID
        self.entry = entry
    }
}
