// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI

/// The command `posthorn code`: lists and revokes enrolment codes that no device has used.
enum CodeCommands {
    static let group = CommandNode(
        group: "code", "List and revoke unused enrolment codes.",
        discussion: "To create a code, run 'posthorn enrol'. The code itself is shown only then; the list shows an ID.",
        children: [list, revoke], defaultChild: "list")

    private static let list = CommandNode(Command("list", "List the codes that are still valid and unused.")) {
        (invocation, context) throws(CommandError) in
        report(of: try context.admin(invocation).send(.get("enrolment-codes"), for: CredentialAPI.UnusedCodes.self))
    }

    private static let revoke = CommandNode(
        Command(
            "revoke", "Revoke a code; no device can enrol with it.",
            arguments: [Argument("ID", "The ID from 'posthorn code list'.")], options: [SharedOptions.yes])
    ) { (invocation, context) throws(CommandError) in
        let id = invocation.arguments[0]
        // A code has groups of digits with dashes between them; an ID has none.
        guard !id.contains("-") else {
            throw .usage(invocation.error(.contradiction("this is the code; specify its ID from 'posthorn code list'")))
        }
        try Console.confirm("Revoke code \(id)?", unless: invocation.has("yes"))
        try context.admin(invocation).send(.delete("enrolment-codes", id))
        return Report("Revoked code \(oneLine(id)).", json: Done())
    }

    /// Formats the output of `code list`.
    static func report(of codes: CredentialAPI.UnusedCodes) -> Report {
        guard !codes.codes.isEmpty else {
            return Report("No unused codes. Create one with 'posthorn enrol'.", json: codes)
        }
        let table = Table(
            [.text("ID"), .text("CREATED"), .text("VALID UNTIL")],
            rows: codes.codes.map { code in
                [
                    code.id, LocalTime.text(code.createdAt),
                    LocalTime.text(code.expiresAt),
                ]
            })
        return Report(table.text, json: codes)
    }
}
