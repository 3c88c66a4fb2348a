// SPDX-License-Identifier: Apache-2.0

internal import PushAdmin
internal import PushCore

/// What posthorn understands of the words that a person types.
func typed(_ words: String...) throws -> Invocation { try typed(words) }

/// What posthorn understands of the words that a person types.
func typed(_ words: [String]) throws -> Invocation {
    guard case .run(let invocation) = try AdminProgram.root.command.parse(words).get() else { throw NothingToRun() }
    return invocation
}

struct NothingToRun: Error {}

extension Surroundings {
    /// A person with nothing set.
    static let empty = Surroundings(environment: [:], isRoot: false)
}

extension Report {
    /// What `--json` prints.
    var jsonText: String {
        get throws { String(decoding: try JSONText.encode(json), as: UTF8.self) }
    }
}

/// What a throwing function of this module threw.
func thrown(_ body: () throws(CommandError) -> Void) -> CommandError? {
    do throws(CommandError) {
        try body()
        return nil
    } catch {
        return error
    }
}
