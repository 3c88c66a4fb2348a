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

/// A picture that keeps its proportions (`GtkPicture`).
package final class Picture: Widget {
    /// Creates a picture with `gtk_picture_new_for_paintable`, reduced to a maximum width and height.
    package init(_ texture: Texture, pixelsMax: Int) {
        let (width, height) = unsafe (
            Int(gdk_texture_get_width(texture.address)), Int(gdk_texture_get_height(texture.address))
        )
        let scale = min(1, Double(pixelsMax) / Double(max(width, height, 1)))
        unsafe super.init(gtk_picture_new_for_paintable(texture.address))
        sized(width: Int(Double(width) * scale), height: Int(Double(height) * scale))
        aligned(across: .center, down: .center)
    }
}

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
