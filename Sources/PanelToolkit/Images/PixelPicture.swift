// SPDX-License-Identifier: Apache-2.0

/// A decoded picture with one byte each for red, green, blue and opacity of a pixel.
package struct PixelPicture: Equatable, Sendable {
    /// The width in pixels.
    package var width: Int
    /// The height in pixels.
    package var height: Int
    /// The pixels, row by row.
    package var points: [UInt8]

    package init(width: Int, height: Int, points: [UInt8]) {
        self.width = width
        self.height = height
        self.points = points
    }
}

/// The reason why a file has no picture.
package enum PictureError: Error, Equatable {
    case tooLarge(width: Int, height: Int, sideMax: Int)
    /// The library's message about a file that it cannot decode.
    case damaged(String)
    case empty
    case unknownFormat
    case notScaledDown

    /// The reason as a text for the log.
    package var text: String {
        switch self {
        case .tooLarge(let width, let height, let sideMax):
            "\(width)x\(height) pixels exceed \(sideMax)x\(sideMax)"
        case .damaged(let message): message
        case .empty: "the file contains no picture"
        case .unknownFormat: "gdk-pixbuf has no loader for the format"
        case .notScaledDown: "the picture cannot be scaled down"
        }
    }
}
