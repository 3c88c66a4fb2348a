// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// Encodes pictures with `gdk_pixbuf_save_to_bufferv`.
package enum ImageEncoder {
    /// Returns a picture as a PNG file.
    ///
    /// - Parameter picture: The picture; it has as many bytes as its size needs.
    /// - Returns: The file.
    /// - Throws: The library's message.
    package static func png(_ picture: PixelPicture) throws(PictureError) -> [UInt8] {
        precondition(picture.points.count == picture.width * picture.height * 4)
        let bytes = unsafe g_bytes_new(picture.points, UInt(picture.points.count))
        defer { unsafe g_bytes_unref(bytes) }
        let image = unsafe NativeObject(
            adopting: gdk_pixbuf_new_from_bytes(
                bytes, GDK_COLORSPACE_RGB, 1, 8, Int32(picture.width), Int32(picture.height),
                Int32(picture.width * 4)))
        var buffer: UnsafeMutablePointer<CChar>?
        var count: gsize = 0
        var error: UnsafeMutablePointer<GError>?
        guard unsafe gdk_pixbuf_save_to_bufferv(image.address, &buffer, &count, "png", nil, nil, &error) != 0 else {
            defer { unsafe g_clear_error(&error) }
            throw .damaged(unsafe error.map { unsafe String(cString: $0.pointee.message) } ?? "cannot be encoded")
        }
        defer { unsafe g_free(buffer) }
        return unsafe buffer.map { start in
            unsafe UnsafeBufferPointer(start: start, count: Int(count)).map { UInt8(bitPattern: $0) }
        } ?? []
    }
}
