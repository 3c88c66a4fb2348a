// SPDX-License-Identifier: Apache-2.0

/// A JSON syntax error with its position.
package struct JSONError: Error, Equatable, Sendable {
    /// The kind of error.
    package enum Problem: Sendable, CaseIterable {
        case endsEarly
        case isNotValue
        case isNotObject
        case isNotName
        case lacksColon
        case lacksComma
        case hasBadNumber
        case hasControlCharacter
        case hasBadEscape
        case hasLoneSurrogate
        case hasBadUTF8
        case nestsTooDeep
        case hasMoreBehind

        /// The error message for a human reader, as one sentence.
        package var sentence: String {
            switch self {
            case .endsEarly: "The text ends before the value is complete."
            case .isNotValue: "No value begins here."
            case .isNotObject: "The outermost value must be an object."
            case .isNotName: "A name in double quotes must stand here."
            case .lacksColon: "A colon must stand between a name and its value."
            case .lacksComma: "A comma or the closing bracket must stand here."
            case .hasBadNumber: "This is not how JSON writes a number."
            case .hasControlCharacter: "A control character in a string must be escaped."
            case .hasBadEscape: "This escape does not exist."
            case .hasLoneSurrogate: "Half of a surrogate pair is no character."
            case .hasBadUTF8: "The bytes are not valid UTF-8."
            case .nestsTooDeep: "Arrays and objects nest more than \(Limits.jsonDepthMax) deep."
            case .hasMoreBehind: "Something stands behind the end of the value."
            }
        }
    }

    /// The offset of the byte at which the error was detected, from 0.
    package var offset: Int
    package var problem: Problem

    package init(offset: Int, problem: Problem) {
        self.offset = offset
        self.problem = problem
    }
}
