// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import Glibc
internal import PushAPI

/// The command `posthorn backup`: copies all of the server's data while the server runs.
enum BackupCommand {
    static let node = CommandNode(
        Command(
            "backup", "Back up the server's data while it is running.",
            discussion: """
                Creates a directory with a consistent, verified copy of the database and the keys that belong to it. It \
                contains secrets, so only the server's user can read it. The default is a new directory below 'backups' \
                in the data directory. The parent directory must exist and be writable for the server's user.

                The server keeps accepting and delivering notifications during the backup. Use 'posthornd \
                --check-backup' to verify a backup and 'posthornd --restore' to restore it.
                """,
            arguments: [Argument("DIRECTORY", "The directory to create.", optional: true)],
            options: [Option("force", "Replace an existing backup.")],
            examples: [
                Explanation("posthorn backup", "Create a backup in the data directory."),
                Explanation("posthorn backup /var/lib/posthorn/weekly --force", "Replace last week's backup."),
            ])
    ) { (invocation, context) throws(CommandError) in
        let admin = context.admin(invocation)
        let order = AdminAPI.NewBackup(
            path: invocation.argument(0).map(LocalFile.absolute), replace: invocation.has("force") ? true : nil)
        var backup = try admin.send(.post("backups", order), for: AdminAPI.Backup.self)
        let isShown = isatty(STDERR_FILENO) == 1 && !invocation.has("json")
        while backup.isUnderWay {
            if isShown { Console.showProgress(progress(of: backup)) }
            usleep(100_000)
            let last = try admin.send(.get("backups"), for: AdminAPI.Backups.self).last
            guard let last, last.path.utf8.elementsEqual(backup.path.utf8) else {
                throw .badAnswer(of: "the server", detail: "the backup is no longer listed")
            }
            backup = last
        }
        if isShown { Console.showProgress("") }
        return try report(of: backup)
    }

    /// Returns the progress text for the terminal.
    static func progress(of backup: AdminAPI.Backup) -> String {
        switch backup.state {
        case .copying:
            "copied \(mebibytes(backup.copiedByteCount)) of \(mebibytes(backup.byteCount)) MiB"
        case .checking: "checking \(mebibytes(backup.byteCount)) MiB"
        case .done, .failed: ""
        }
    }

    /// Formats the output of `backup`; throws when the backup failed.
    static func report(of backup: AdminAPI.Backup) throws(CommandError) -> Report {
        guard backup.state == .done else {
            throw .backupFailed(backup.problem ?? "unknown reason")
        }
        return Report("\(oneLine(backup.path))", json: backup)
    }

    private static func mebibytes(_ byteCount: Int64) -> Int64 { (byteCount + (1 << 20) - 1) >> 20 }
}
