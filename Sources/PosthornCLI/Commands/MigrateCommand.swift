// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushNet

/// The command `posthorn migrate`, which `posthornd --migrate` executes, because no server runs meanwhile.
enum MigrateCommand {
    static let node = CommandNode(
        Command(
            "migrate", "Copy the server's store to PostgreSQL, or back to SQLite.",
            discussion: """
                Stop the server, or all nodes, first. The command copies all tables, keeps the numbers of notifications, \
                and compares the numbers of rows and checksums of both stores. The old store stays as it is. If the copy \
                fails, the target stays empty. With sslmode=verify-full, the address also needs sslrootcert=FILE.

                It runs 'posthornd --migrate', which must be installed on this machine, and has its exit codes. Run it as \
                root or as the server's user. PostgreSQL's password comes from PGPASSWORD or from ~/.pgpass of this user.
                """,
            options: [
                Option(
                    "to", value: "ADDRESS", "The target: postgresql://USER@HOST/DATABASE or sqlite:DIRECTORY."),
                Option(
                    "from", value: "ADDRESS", "The store to copy. Default: the database in the server's data directory."
                ),
                Option("config", value: "FILE", "The configuration file of the server.", values: .file),
                Option("data-directory", value: "DIR", "The data directory of the server.", values: .directory),
            ],
            examples: [
                Explanation(
                    "posthorn migrate --to 'postgresql://posthorn@db1,db2/posthorn?sslmode=verify-full'",
                    "Copy the store to PostgreSQL."),
                Explanation(
                    "posthorn migrate --to sqlite:/var/lib/posthorn-new --from 'postgresql://posthorn@db1/posthorn?sslmode=verify-full'",
                    "Copy it back to a new database."),
            ],
            exitCodes: [Explanation("64 to 78", "Those of posthornd(8).")],
            unused: ["json"] + AgentCommands.ofServer)
    ) { (invocation, _) throws(CommandError) in
        guard let target = invocation.value("to") else {
            throw .usage(UsageError(.missingArgument(placeholder: "--to"), command: invocation.command))
        }
        var arguments = ["--migrate", target]
        for option in ["from", "config", "data-directory"] {
            if let value = invocation.value(option) { arguments += ["--\(option)", value] }
        }
        let error = ProgramReplacement.execute(neighbor: "posthornd", arguments)
        throw .badFile(
            path: "posthornd", problem: "cannot run the program: \(error.description)",
            remedy: "Install the server on this machine, and run 'posthornd --migrate' if it is in another directory.")
    }
}
