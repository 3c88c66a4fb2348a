// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit

/// The picture of a notification, which appears when it is decoded.
enum EntryPicture {
    /// Creates a place for a picture from a file that the agent made.
    ///
    /// - Parameters:
    ///   - path: The absolute path of the file.
    ///   - pixelsMax: The maximum width and height.
    ///   - onShown: Called when the place has its picture.
    /// - Returns: The place, which is empty until the picture is decoded, and if it cannot be decoded.
    static func make(_ path: String, pixelsMax: Int, onShown: @escaping () -> Void = {}) -> Widget {
        let place = Bin().named(tr("Picture"))
        unsafe IconCache.shared.load(path, pixels: pixelsMax * Desktop.scale) { texture in
            place.setContent(Picture(texture, pixelsMax: pixelsMax))
            onShown()
        }
        return place
    }
}
