// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
@testable import PosthornCLI

/// Parses the words of a command line.
func typed(_ words: String...) throws -> Invocation { try typed(words) }

/// Parses the words of a command line.
func typed(_ words: [String]) throws -> Invocation {
    guard case .run(let invocation) = try AdminProgram.root.command.parse(words).get() else { throw NothingToRun() }
    return invocation
}

struct NothingToRun: Error {}

extension CommandContext {
    /// The context of a user without any environment variable.
    static let empty = CommandContext(environment: [:], isRoot: false)
}

extension Report {
    /// The output of `--json`.
    var jsonText: String {
        get throws { String(decoding: try JSONText.encode(json), as: UTF8.self) }
    }
}

/// Returns the error that a throwing function of this module threw.
func thrown(_ body: () throws(CommandError) -> Void) -> CommandError? {
    do throws(CommandError) {
        try body()
        return nil
    } catch {
        return error
    }
}
