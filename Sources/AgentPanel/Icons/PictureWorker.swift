// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PanelToolkit
internal import PushCore
internal import PushNet

/// Decodes and encodes pictures of notifications, each in a process of its own that the agent starts.
///
/// A picture is untrusted and may compromise the process that decodes it. So the agent takes only pixels from that
/// process: a line with the width and the height, and four bytes for each pixel. Another process makes a PNG file out
/// of them. The limits are no sandbox.
enum PictureWorker {
    /// The option that runs this program as a decoder.
    static let decodeOption = "decode-picture"
    /// The option that runs this program as an encoder.
    static let encodeOption = "encode-picture"

    /// The time limit in seconds, as a fallback: the agent kills the process before that.
    private static let timeoutSeconds: UInt32 = 30

    /// Decodes the picture on standard input, and writes its pixels to standard output.
    ///
    /// - Returns: The exit status.
    static func decode() -> Int32 {
        bound()
        do throws(PictureError) {
            let picture = try ImageDecoder.decode(
                input(byteCountMax: Limits.pictureByteCountMax), pixels: Limits.pictureSideMax)
            StandardStream.output.write(Array("\(picture.width) \(picture.height)\n".utf8) + picture.points)
            return 0
        } catch {
            return fail(error.text)
        }
    }

    /// Encodes the pixels on standard input as a PNG file on standard output.
    ///
    /// - Returns: The exit status.
    static func encode() -> Int32 {
        bound()
        let bytes = input(byteCountMax: Limits.pictureSideMax * Limits.pictureSideMax * 4 + 32)
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        let sides = String(decoding: line, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
        guard sides.count == 2, sides.allSatisfy({ (1...Limits.pictureSideMax).contains($0) }),
            bytes.count == line.count + 1 + sides[0] * sides[1] * 4
        else { return fail("the input is not a picture") }
        let points = Array(bytes[(line.count + 1)...])
        do throws(PictureError) {
            StandardStream.output.write(
                try ImageEncoder.png(PixelPicture(width: sides[0], height: sides[1], points: points)))
            return 0
        } catch {
            return fail(error.text)
        }
    }

    private static func fail(_ reason: String) -> Int32 {
        StandardStream.error.write("posthorn-panel: \(reason)\n")
        return 1
    }

    /// Limits the memory and the time, and forbids writing files.
    private static func bound() {
        IconReader.boundMemory()
        var limits = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(UInt32(RLIMIT_FSIZE.rawValue)), &limits)
        alarm(timeoutSeconds)
    }

    private static func input(byteCountMax: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 64 * 1024)
        while bytes.count <= byteCountMax {
            let count = unsafe read(STDIN_FILENO, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += part.prefix(count)
        }
        return bytes
    }
}
