// SPDX-License-Identifier: Apache-2.0

/// The reason why the decoder refuses a picture: the exit status of `posthorn-panel --decode-picture`.
package enum PictureRefusal: Int32, Error, CaseIterable, Sendable {
    case damaged = 1
    case unknownType
    case tooLong
    case missing
    case unreadable
    case symbolicLink
    case notRegular
    case foreign
    /// The kernel has no filters of system calls.
    case noSandbox

    /// The reason as a phrase for `ignored` of an inbox entry.
    package var phrase: String {
        switch self {
        case .damaged: PictureProblem.damaged.rawValue
        case .unknownType: PictureProblem.unknownType.rawValue
        case .tooLong: "the file is longer than 5 MiB"
        case .missing: "the file does not exist"
        case .unreadable: "the file cannot be read"
        case .symbolicLink: "the file is a symbolic link"
        case .notRegular: "it is not a regular file"
        case .foreign: "the file belongs to another user"
        case .noSandbox: "it cannot be decoded safely, because the kernel has no filters of system calls (seccomp)"
        }
    }
}
