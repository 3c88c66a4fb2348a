// SPDX-License-Identifier: Apache-2.0

internal import PushCore

/// Shows numbers on app icons.
protocol BadgePresenter: AnyObject {
    /// Sets the number on an app's icon; 0 removes the badge.
    func setBadge(_ count: UInt32, appID: AppID)
}
