// SPDX-License-Identifier: Apache-2.0

/// A notification that is to wake an app.
package struct BackgroundWake: Sendable, Equatable {
    package var appID: String
    /// The notification's number in the inbox.
    package var entry: Int64

    package init(appID: String, entry: Int64) {
        self.appID = appID
        self.entry = entry
    }
}
