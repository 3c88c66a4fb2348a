// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import PushCore

/// `posthorn backup`: a copy of everything that the server keeps, made while it runs.
package enum BackupCommand {
    static let node = CommandNode(
        Command(
            "backup", "Back the server up while it runs.",
            discussion: """
                Makes a directory with a checked copy of the database and the keys that belong to it, as everything was \
                at one moment. It holds secrets, and is for the server's user alone. Without a name it lies below \
                `backups` in the data directory. The server must be able to write there, and the directory that it is to \
                lie in must be there.

                Notifications are accepted and delivered meanwhile. posthornd --check-backup looks whether a backup is \
                whole; posthornd --restore puts it back.
                """,
            arguments: [Argument("DIRECTORY", "The directory to make.", optional: true)],
            options: [Option("force", "Replace an earlier backup of that name.")],
            examples: [
                Explanation("posthorn backup", "Back up into the data directory."),
                Explanation("posthorn backup /var/lib/posthorn/weekly --force", "Replace last week's."),
            ])
    ) { (invocation, surroundings) throws(CommandError) in
        let admin = surroundings.admin(invocation)
        let order = AdminAPI.NewBackup(
            path: invocation.argument(0).map(LocalFile.absolute), replace: invocation.has("force") ? true : nil)
        var backup = try admin.send(.post("backups", order), for: AdminAPI.Backup.self)
        let isShown = isatty(STDERR_FILENO) == 1 && !invocation.has("json")
        while backup.isUnderWay {
            if isShown { Console.showProgress(progress(of: backup)) }
            usleep(100_000)
            let last = try admin.send(.get("backups"), for: AdminAPI.Backups.self).last
            guard let last, last.path.utf8.elementsEqual(backup.path.utf8) else {
                throw .badAnswer(of: "the server", detail: "the backup is not known any more")
            }
            backup = last
        }
        if isShown { Console.showProgress("") }
        return try report(of: backup)
    }

    /// What stands on the terminal while it is made.
    package static func progress(of backup: AdminAPI.Backup) -> String {
        switch backup.state {
        case .copying:
            "copied \(mebibytes(backup.copiedByteCount)) of \(mebibytes(backup.byteCount)) MiB"
        case .checking: "checking \(mebibytes(backup.byteCount)) MiB"
        case .done, .failed: ""
        }
    }

    /// What `backup` prints; throws when there is none.
    package static func report(of backup: AdminAPI.Backup) throws(CommandError) -> Report {
        guard backup.state == .done else {
            throw .backupFailed(backup.problem ?? "the server does not say why")
        }
        return Report("\(oneLine(backup.path))", json: backup)
    }

    private static func mebibytes(_ byteCount: Int64) -> Int64 { (byteCount + (1 << 20) - 1) >> 20 }
}
