// SPDX-License-Identifier: Apache-2.0

internal import PanelToolkit

/// A request of the panel to the icon reader: a line of three words, followed by the path.
///
/// ```
/// PIXELS STAMP PATHBYTES \n PATH
/// ```
struct IconRequest: Equatable {
    /// The path of the icon file.
    var path: String
    /// The maximum width and height of the picture.
    var pixels: Int
    /// The stamp of the file version that the panel already has; empty if it has none.
    var stamp: String

    /// Paths must be shorter than this, in bytes; 4096 is the system's limit.
    private static let pathByteCountEnd = 4096
    private static let pixelsMax = 1024

    /// The serialized request.
    var bytes: [UInt8] {
        Array("\(pixels) \(stamp.isEmpty ? "-" : stamp) \(path.utf8.count)\n".utf8) + Array(path.utf8)
    }

    init(path: String, pixels: Int, stamp: String = "") {
        self.path = path
        self.pixels = pixels
        self.stamp = stamp
    }

    /// Reads a request; nil at the end of the input and for an invalid request.
    ///
    /// - Parameter read: Returns the given number of bytes, or fewer at the end of the input.
    init?(_ read: (Int) -> [UInt8]) {
        var line: [UInt8] = []
        while line.last != UInt8(ascii: "\n") {
            let byte = read(1)
            guard byte.count == 1, line.count < 200 else { return nil }
            line += byte
        }
        let words = String(decoding: line.dropLast(), as: UTF8.self).split(separator: " ")
        guard words.count == 3, let pixels = Int(words[0]), let count = Int(words[2]),
            (1...Self.pixelsMax).contains(pixels), (1..<Self.pathByteCountEnd).contains(count)
        else { return nil }
        let path = read(count)
        guard path.count == count else { return nil }
        self.init(
            path: String(decoding: path, as: UTF8.self), pixels: pixels, stamp: words[1] == "-" ? "" : String(words[1]))
    }
}

/// An answer of the icon reader: a line, which the pixels follow in the case of a picture.
enum IconAnswer: Equatable {
    /// The reader has started.
    case ready
    /// The stamp of the file, sent before the reader decodes it.
    case stamp(String)
    /// The file has the stamp from the request.
    case unchanged
    /// There is no picture, for this reason.
    case refused(String)
    case picture(PixelPicture)

    /// The serialized answer.
    var bytes: [UInt8] {
        switch self {
        case .ready: Array("ready\n".utf8)
        case .stamp(let stamp): Array("stamp \(stamp)\n".utf8)
        case .unchanged: Array("unchanged\n".utf8)
        case .refused(let reason): Array("refused \(reason.filter { $0 != "\n" }.prefix(300))\n".utf8)
        case .picture(let picture): Array("picture \(picture.width) \(picture.height)\n".utf8) + picture.points
        }
    }
}

/// Parses the output of the icon reader, which is untrusted: a malicious icon may have compromised the reader.
struct IconAnswers {
    /// The output is not a valid answer.
    struct Malformed: Error {}

    private static let lineByteCountMax = 2048
    private var rest: [UInt8] = []

    init() {}

    /// Adds received bytes to the buffer.
    mutating func append(_ bytes: [UInt8]) { rest += bytes }

    /// Removes the next answer from the buffer; nil until the answer is complete.
    ///
    /// - Parameter pixels: The maximum width and height of a picture.
    /// - Returns: The answer.
    /// - Throws: `Malformed`; the rest of the output cannot be parsed either.
    mutating func next(pixels: Int) throws(Malformed) -> IconAnswer? {
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else {
            guard rest.count <= Self.lineByteCountMax else { throw Malformed() }
            return nil
        }
        let line = String(decoding: rest[..<end], as: UTF8.self)
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        let text = words.count == 2 ? words[1] : ""
        let answer: IconAnswer
        var count = end + 1
        switch words.first {
        case "ready": answer = .ready
        case "stamp": answer = .stamp(text)
        case "unchanged": answer = .unchanged
        case "refused": answer = .refused(text)
        case "picture":
            let sides = text.split(separator: " ").compactMap { Int($0) }
            guard sides.count == 2, sides.allSatisfy({ (1...pixels).contains($0) }) else { throw Malformed() }
            let points = rest[count...].prefix(sides[0] * sides[1] * 4)
            guard points.count == sides[0] * sides[1] * 4 else { return nil }
            count += points.count
            answer = .picture(PixelPicture(width: sides[0], height: sides[1], points: Array(points)))
        default: throw Malformed()
        }
        rest.removeFirst(count)
        return answer
    }
}
