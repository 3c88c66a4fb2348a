// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita
internal import PushCore

/// A colored circle with the initials of a name (`AdwAvatar`), which screen readers skip.
package final class Avatar: Widget {
    /// Creates an avatar with `adw_avatar_new`.
    package init(initialsOf name: String, pixels: Int) {
        unsafe super.init(adw_avatar_new(Int32(pixels), DisplayText.plain(name), 1))
        unread()
    }
}
