// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import Glibc
internal import PanelToolkit
internal import PushCore
internal import PushNet

/// Decodes and encodes pictures of notifications, each in a process of its own that the agent starts.
///
/// ```
/// limits ──▶ loaders of images ──▶ file opened, if one is named ──▶ filter of system calls ──▶ reading, decoding
/// ```
///
/// A picture is untrusted and may take over the process that decodes it. A `SystemCallFilter` then leaves it nothing
/// but its memory, its input and its output. The agent takes only pixels from it: a line with the width and the
/// height, and four bytes for each pixel. Another process makes a PNG file out of them.
enum PictureWorker {
    /// The option that runs this program as a decoder of its input.
    static let decodeOption = "decode-picture"
    /// The option that runs this program as a decoder of the file whose path is its input.
    static let decodeFileOption = "decode-picture-file"
    /// The option that runs this program as an encoder.
    static let encodeOption = "encode-picture"

    /// The time limit in seconds, as a fallback: the agent kills the process before that.
    private static let timeoutSeconds: UInt32 = 30

    /// Decodes the picture on standard input, and writes its pixels to standard output.
    ///
    /// - Returns: The exit status, a raw value of `PictureRefusal` if the picture is refused.
    static func decode() -> Int32 {
        work { () throws(PictureRefusal) in
            try enterSandbox()
            return try pixels(of: PictureFile.content(of: STDIN_FILENO))
        }
    }

    /// Decodes the file whose path is on standard input, and writes its pixels to standard output.
    ///
    /// - Returns: The exit status, a raw value of `PictureRefusal` if the picture is refused.
    static func decodeFile() -> Int32 {
        work { () throws(PictureRefusal) in
            let path = try PictureFile.content(of: STDIN_FILENO)
            let file = try PictureFile(String(decoding: path, as: UTF8.self))
            try enterSandbox()
            return try pixels(of: file.content())
        }
    }

    /// Encodes the pixels on standard input as a PNG file on standard output.
    ///
    /// - Returns: The exit status.
    static func encode() -> Int32 {
        work { () throws(PictureRefusal) in
            try enterSandbox()
            return try png(of: input(byteCountMax: Limits.pictureSideMax * Limits.pictureSideMax * 4 + 32))
        }
    }

    private static func work(_ body: () throws(PictureRefusal) -> [UInt8]) -> Int32 {
        bound()
        do throws(PictureRefusal) {
            StandardStream.output.write(try body())
            return 0
        } catch {
            return error.rawValue
        }
    }

    private static func pixels(of bytes: [UInt8]) throws(PictureRefusal) -> [UInt8] {
        guard let format = format(of: bytes) else { throw .unknownType }
        do throws(PictureError) {
            let picture = try ImageDecoder.decode(bytes, pixels: Limits.pictureSideMax, format: format)
            return Array("\(picture.width) \(picture.height)\n".utf8) + picture.points
        } catch {
            StandardStream.error.write("posthorn-panel: \(error.text)\n")
            throw error == .unknownFormat ? .unknownType : .damaged
        }
    }

    /// Returns the format of a PNG, JPEG or WebP file, by its first bytes; nil for any other file.
    private static func format(of bytes: [UInt8]) -> String? {
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "png" }
        if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "jpeg" }
        let isWebP = bytes.starts(with: "RIFF".utf8) && bytes.dropFirst(8).starts(with: "WEBP".utf8)
        return isWebP ? "webp" : nil
    }

    private static func png(of bytes: [UInt8]) throws(PictureRefusal) -> [UInt8] {
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        let sides = String(decoding: line, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
        guard sides.count == 2, sides.allSatisfy({ (1...Limits.pictureSideMax).contains($0) }),
            bytes.count == line.count + 1 + sides[0] * sides[1] * 4
        else { throw .damaged }
        let points = Array(bytes[(line.count + 1)...])
        do throws(PictureError) {
            return try ImageEncoder.png(PixelPicture(width: sides[0], height: sides[1], points: points))
        } catch {
            StandardStream.error.write("posthorn-panel: \(error.text)\n")
            throw .damaged
        }
    }

    /// Limits the memory and the time, and forbids writing files.
    private static func bound() {
        IconReader.boundMemory()
        var limits = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(UInt32(RLIMIT_FSIZE.rawValue)), &limits)
        alarm(timeoutSeconds)
    }

    /// Loads what decoding needs, and forbids all further system calls except for memory, input and output.
    private static func enterSandbox() throws(PictureRefusal) {
        ImageDecoder.loadFormats(["png", "jpeg", "webp"])
        do throws(NetError) {
            try SystemCallFilter.computing.install()
        } catch {
            StandardStream.error.write("posthorn-panel: the kernel cannot filter system calls: \(error)\n")
            throw .noSandbox
        }
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
