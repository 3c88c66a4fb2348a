// SPDX-License-Identifier: Apache-2.0

/// What the panel asks the reader of icons: a line of three words, and then the path.
///
/// ```
/// PIXELS STAMP PATHBYTES \n PATH
/// ```
package struct IconRequest: Equatable {
    /// The file.
    package var path: String
    /// The largest width and height that is of use.
    package var pixels: Int
    /// What the panel knows of the file already; empty for nothing.
    package var stamp: String

    /// No path is longer than the system takes.
    private static let pathByteCountEnd = 4096
    private static let pixelsMax = 1024

    /// As it is written.
    package var bytes: [UInt8] {
        Array("\(pixels) \(stamp.isEmpty ? "-" : stamp) \(path.utf8.count)\n".utf8) + Array(path.utf8)
    }

    /// Makes one.
    package init(path: String, pixels: Int, stamp: String = "") {
        self.path = path
        self.pixels = pixels
        self.stamp = stamp
    }

    /// Reads one; nil at the end, and for anything that is no request.
    ///
    /// - Parameter read: Answers so many bytes, fewer only at the end.
    package init?(_ read: (Int) -> [UInt8]) {
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

/// A picture as it goes to the screen: red, green, blue and opacity of each point, a byte each.
package struct IconPicture: Equatable {
    /// Points from left to right.
    package var width: Int
    /// Points from top to bottom.
    package var height: Int
    /// Line after line.
    package var points: [UInt8]

    /// Makes one.
    package init(width: Int, height: Int, points: [UInt8]) {
        self.width = width
        self.height = height
        self.points = points
    }
}

/// What the reader of icons says: a line, and behind that of a picture its points.
package enum IconAnswer: Equatable {
    /// It has started.
    case ready
    /// Which state of the file it looks at, before it decodes anything.
    case stamp(String)
    /// The file is what the panel knows.
    case unchanged
    /// Why there is no picture.
    case refused(String)
    /// What is to be shown.
    case picture(IconPicture)

    /// As it is written.
    package var bytes: [UInt8] {
        switch self {
        case .ready: Array("ready\n".utf8)
        case .stamp(let stamp): Array("stamp \(stamp)\n".utf8)
        case .unchanged: Array("unchanged\n".utf8)
        case .refused(let reason): Array("refused \(reason.filter { $0 != "\n" }.prefix(300))\n".utf8)
        case .picture(let picture): Array("picture \(picture.width) \(picture.height)\n".utf8) + picture.points
        }
    }
}

/// Takes what the reader of icons wrote apart; it may be anything, because what it decodes may have taken it over.
package struct IconAnswers {
    /// What was to be read is none of the answers.
    package struct Malformed: Error {}

    private static let lineByteCountMax = 2048
    private var rest: [UInt8] = []

    /// Nothing came yet.
    package init() {}

    /// Bytes that came.
    package mutating func append(_ bytes: [UInt8]) { rest += bytes }

    /// The next answer; nil until it is whole.
    ///
    /// - Parameter pixels: The largest width and height of a picture.
    /// - Returns: The answer.
    /// - Throws: `Malformed`; nothing that comes later can be understood.
    package mutating func next(pixels: Int) throws(Malformed) -> IconAnswer? {
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
            answer = .picture(IconPicture(width: sides[0], height: sides[1], points: Array(points)))
        default: throw Malformed()
        }
        rest.removeFirst(count)
        return answer
    }
}
