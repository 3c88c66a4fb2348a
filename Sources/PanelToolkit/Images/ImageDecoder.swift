// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// Decodes the content of an image file with `GdkPixbufLoader`, scaled down to the requested size.
package final class ImageDecoder {
    private static let sideMax = 4096
    /// The chunk size in bytes; small, so that the image size is known before much is decoded.
    private static let chunkByteCount = 4096

    private let loader: NativeObject
    private let pixels: Int
    private var refusal: PictureError?

    private init(pixels: Int, format: String?) throws(PictureError) {
        self.pixels = pixels
        let found = unsafe format.map { unsafe gdk_pixbuf_loader_new_with_type($0, nil) } ?? gdk_pixbuf_loader_new()
        guard let found = unsafe found else { throw .unknownFormat }
        loader = unsafe NativeObject(adopting: OpaquePointer(found))
        Signals.connectSize(loader, "size-prepared") { [weak self] in self?.fit($0, $1) }
    }

    /// Decodes an image.
    ///
    /// - Parameters:
    ///   - bytes: The content of the file.
    ///   - pixels: The maximum width and height.
    ///   - format: The name of its format, as for `loadFormats`; nil to recognize it by the content, which needs files.
    /// - Returns: The picture.
    /// - Throws: The reason why the image is not shown.
    package static func decode(
        _ bytes: [UInt8], pixels: Int, format: String? = nil
    ) throws(PictureError) -> PixelPicture {
        try ImageDecoder(pixels: pixels, format: format).decode(bytes)
    }

    /// Loads the code of formats, for a process that cannot open files later.
    ///
    /// A format that is not installed is skipped.
    ///
    /// - Parameter formats: The names of `gdk_pixbuf_format_get_name`, such as `png`.
    package static func loadFormats(_ formats: [String]) {
        for format in formats {
            guard let loader = unsafe gdk_pixbuf_loader_new_with_type(format, nil) else { continue }
            // An empty image is always an error.
            unsafe gdk_pixbuf_loader_close(loader, nil)
            unsafe g_object_unref(loader)
        }
    }

    /// Scales a vector image to the requested size, and a larger bitmap down; refuses a bitmap that is too large.
    private func fit(_ width: Int, _ height: Int) {
        guard width > 0, height > 0 else { return }
        let format = unsafe gdk_pixbuf_loader_get_format(loader.cast())
        let isScalable = unsafe format != nil && gdk_pixbuf_format_is_scalable(format) != 0
        guard isScalable || max(width, height) <= Self.sideMax else {
            refusal = .tooLarge(width: width, height: height, sideMax: Self.sideMax)
            // Size 0 stops the decoding. `gdk_pixbuf_get_file_info` does the same.
            unsafe gdk_pixbuf_loader_set_size(loader.cast(), 0, 0)
            return
        }
        let scale = Double(pixels) / Double(max(width, height))
        guard isScalable || scale < 1 else { return }
        let fitted = [width, height].map { min(max(Int32(Double($0) * scale), 1), Int32(pixels)) }
        unsafe gdk_pixbuf_loader_set_size(loader.cast(), fitted[0], fitted[1])
    }

    private func decode(_ bytes: [UInt8]) throws(PictureError) -> PixelPicture {
        var failure = write(bytes)
        // The loader must be closed even after an error.
        let closing = unsafe attempt { unsafe gdk_pixbuf_loader_close(loader.cast(), $0) }
        failure = failure ?? closing
        if let refusal { throw refusal }
        if let failure { throw failure }
        guard let picture = unsafe gdk_pixbuf_loader_get_pixbuf(loader.cast()) else {
            throw PictureError.empty
        }
        return try unsafe Self.points(of: picture, pixels: pixels)
    }

    /// Calls `gdk_pixbuf_loader_write` for each chunk.
    private func write(_ bytes: [UInt8]) -> PictureError? {
        for start in stride(from: 0, to: bytes.count, by: Self.chunkByteCount) {
            let part = Array(bytes[start..<min(start + Self.chunkByteCount, bytes.count)])
            let failure = unsafe attempt { unsafe gdk_pixbuf_loader_write(loader.cast(), part, gsize(part.count), $0) }
            if let failure { return failure }
            if refusal != nil { break }
        }
        return nil
    }

    private func attempt(
        _ body: (UnsafeMutablePointer<UnsafeMutablePointer<GError>?>) -> gboolean
    ) -> PictureError? {
        var error: UnsafeMutablePointer<GError>?
        guard unsafe body(&error) == 0 else { return nil }
        defer { unsafe g_clear_error(&error) }
        return .damaged(unsafe error.map { unsafe String(cString: $0.pointee.message) } ?? "damaged file")
    }

    /// Returns the RGBA pixels of a `GdkPixbuf` (`gdk_pixbuf_add_alpha`), without the padding between rows.
    private static func points(of picture: OpaquePointer, pixels: Int) throws(PictureError) -> PixelPicture {
        let copy = unsafe NativeObject(adopting: gdk_pixbuf_add_alpha(picture, 0, 0, 0, 0))
        let width = unsafe Int(gdk_pixbuf_get_width(copy.address))
        let height = unsafe Int(gdk_pixbuf_get_height(copy.address))
        let stride = unsafe Int(gdk_pixbuf_get_rowstride(copy.address))
        guard width <= pixels, height <= pixels, let start = unsafe gdk_pixbuf_read_pixels(copy.address) else {
            throw PictureError.notScaledDown
        }
        let points = unsafe (0..<height).flatMap { row in
            unsafe UnsafeBufferPointer(start: start + row * stride, count: width * 4)
        }
        return PixelPicture(width: width, height: height, points: points)
    }
}
