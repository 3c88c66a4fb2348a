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
            case .isNotValue: "Expected a value."
            case .isNotObject: "The outermost value must be an object."
            case .isNotName: "Expected a name in double quotes."
            case .lacksColon: "Expected a colon between a name and its value."
            case .lacksComma: "Expected a comma or the closing bracket."
            case .hasBadNumber: "Invalid number."
            case .hasControlCharacter: "A control character in a string must be escaped."
            case .hasBadEscape: "Invalid escape sequence."
            case .hasLoneSurrogate: "Unpaired surrogate."
            case .hasBadUTF8: "Invalid UTF-8."
            case .nestsTooDeep: "Arrays and objects are nested more than \(Limits.jsonDepthMax) deep."
            case .hasMoreBehind: "Unexpected text after the end of the value."
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
