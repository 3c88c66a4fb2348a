// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// An image of a texture (`GtkImage`), which screen readers skip.
package final class Image: Widget {
    /// Creates an image with `gtk_image_new_from_paintable`.
    package init(_ texture: Texture, pixels: Int) {
        unsafe super.init(gtk_image_new_from_paintable(texture.address))
        unsafe gtk_image_set_pixel_size(address, Int32(pixels))
        unread()
    }
}

/// A picture that keeps its proportions and its size (`GtkPicture`).
package final class Picture: Widget {
    /// Creates a picture with `gtk_picture_new_for_paintable`, reduced to a maximum width and height.
    package init(_ texture: Texture, pixelsMax: Int) {
        let (width, height) = unsafe (
            Int(gdk_texture_get_width(texture.address)), Int(gdk_texture_get_height(texture.address))
        )
        let scale = min(1, Double(pixelsMax) / Double(max(width, height, 1)))
        unsafe super.init(gtk_picture_new_for_paintable(texture.address))
        sized(width: Int(Double(width) * scale), height: Int(Double(height) * scale))
        // GTK's own layout requests the height that the picture would have at the width of its parent.
        unsafe gtk_widget_set_layout_manager(cast(), gtk_custom_layout_new(nil, measurePicture, placePicture))
        aligned(across: .center, down: .center)
    }
}

/// Requests nothing but the size of `gtk_widget_set_size_request`.
private let measurePicture: GtkCustomMeasureFunc = { picture, orientation, _, least, natural, _, _ in
    var (width, height): (Int32, Int32) = (0, 0)
    unsafe gtk_widget_get_size_request(picture, &width, &height)
    let size = orientation == GTK_ORIENTATION_HORIZONTAL ? width : height
    unsafe least?.pointee = size
    unsafe natural?.pointee = size
}

private let placePicture: GtkCustomAllocateFunc = { _, _, _, _ in }

/// A picture in the memory of the display (`GdkTexture`).
package final class Texture: NativeObject {
    /// Creates a texture with `gdk_memory_texture_new`.
    package init(_ picture: PixelPicture) {
        let bytes = unsafe g_bytes_new(picture.points, UInt(picture.points.count))
        defer { unsafe g_bytes_unref(bytes) }
        unsafe super.init(
            adopting: gdk_memory_texture_new(
                Int32(picture.width), Int32(picture.height), GDK_MEMORY_R8G8B8A8, bytes, gsize(picture.width * 4)))
    }
}
