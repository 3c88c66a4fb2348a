// SPDX-License-Identifier: Apache-2.0

/// A usual reason why a notification has no picture, as the beginning of the phrase in `ignored` of an inbox entry.
///
/// The agent writes it, and clients choose a text by it. There are other phrases, for rare reasons.
package enum PictureProblem: String, CaseIterable, Sendable {
    /// The user turned the pictures of the app off.
    case turnedOff = "pictures are turned off for the app"
    /// The host of the picture, or one to which it redirects, is not in the app's manifest; the phrase continues with
    /// the host.
    case hostNotNamed = "the app does not name the host"
    /// As many other pictures as allowed were being fetched or converted.
    case tooMany = "too many other pictures were being fetched"
    /// The picture was not ready in time; the phrase continues with the time limit.
    case late = "it was not ready within"
    /// The file has another type.
    case unknownType = "it is not a PNG, JPEG or WebP file"
    /// The decoder refused the file.
    case damaged = "it is damaged or too large"

    /// Reads a phrase; nil for a rare reason.
    package init?(phrase: String) {
        guard let problem = Self.allCases.first(where: { phrase.utf8.starts(with: $0.rawValue.utf8) }) else {
            return nil
        }
        self = problem
    }
}
