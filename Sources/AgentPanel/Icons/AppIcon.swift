// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit

/// The icon of an app.
enum AppIcon {
    /// Creates an icon from a file or the theme; without an icon, shows the app's initials.
    ///
    /// - Parameters:
    ///   - icon: A name in the theme or an absolute path; may be empty.
    ///   - name: The app's name.
    ///   - pixels: The width and height.
    /// - Returns: The widget, which screen readers skip.
    static func make(_ icon: String, of name: String, pixels: Int) -> Widget {
        if icon.hasPrefix("/") { return file(icon, of: name, pixels: pixels) }
        guard !icon.isEmpty, !icon.contains("/"), Symbol.exists(icon) else {
            return initials(of: name, pixels: pixels)
        }
        return Symbol(icon, pixels: pixels).styled("app-icon")
    }

    private static func initials(of name: String, pixels: Int) -> Widget {
        Avatar(initialsOf: name, pixels: pixels).styled("app-icon")
    }

    /// Creates an icon from a file; shows the initials until the file is decoded.
    private static func file(_ path: String, of name: String, pixels: Int) -> Widget {
        let place = Bin().sized(width: pixels, height: pixels).unread()
        place.setContent(initials(of: name, pixels: pixels))
        unsafe IconCache.shared.load(path, pixels: pixels * Desktop.scale) { picture in
            place.setContent(Image(picture, pixels: pixels).styled("app-icon"))
        }
        return place
    }
}
