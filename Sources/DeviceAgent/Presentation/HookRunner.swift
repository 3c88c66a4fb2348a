// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushCore
package import PushNet

/// Runs the programs that a person or an administrator wants told of each notification that is presented.
///
/// `hooks/APPID` or else `hooks/any` in the person's configuration, or else in /etc/posthorn. No shell reads anything: the
/// notification is JSON on standard input and a few variables. Who calls keeps what waits for room.
package final class HookRunner {
    /// Hooks that run at a time; the others wait.
    package static let runningCountMax = 4
    /// After this a hook is killed with all that it started.
    package static let timeLimit: Duration = .seconds(30)
    /// A hook that prints more is killed; nothing reads it.
    package static let outputByteCountMax = 64 * 1024

    /// Hooks that a status names; there may be more.
    private static let namedCountMax = 5

    /// What became of a start.
    package enum Start: Equatable {
        /// The app has no hook.
        case none
        /// It runs; what goes wrong from now on `onFailure` gets.
        case begun
        /// It did not run, and why.
        case failed(String)
    }

    /// Gets the entry and what went wrong with its hook, which had begun.
    package var onFailure: ((Int64, String) -> Void)?
    /// Called when another hook may run.
    package var onRoom: (() -> Void)?
    /// Before one that could not be started is tried again, where it is what shows an alert.
    package let restartPause: Duration

    private let loop: EventLoop
    private let folders: [String]
    private let environment: [String: String]
    private let timeLimit: Duration
    private var running: [Int64: LimitedProcess] = [:]

    /// Looks in folders, in this order.
    package init(
        loop: EventLoop, folders: [String], environment: [String: String],
        timeLimit: Duration = HookRunner.timeLimit, restartPause: Duration = Limits.hookRestartPause
    ) {
        self.loop = loop
        self.folders = folders
        self.environment = environment
        self.timeLimit = timeLimit
        self.restartPause = restartPause
    }

    /// Whether an app has a hook now.
    package func hasHook(for appID: String) -> Bool { find(appID) != nil }

    /// The names of the hooks that would run, for a person; nil when there are none.
    package var summary: String? {
        let names = Set(folders.flatMap { FolderListing.names(in: $0) }).sorted()
        let usable = names.filter { name in
            guard DesktopEntry.isValidID(name) else { return false }
            return folders.map { "\($0)/\(name)" }.first { unsafe access($0, F_OK) == 0 }.map(Self.isUsable) ?? false
        }
        guard !usable.isEmpty else { return nil }
        let rest = usable.count - Self.namedCountMax
        return usable.prefix(Self.namedCountMax).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }

    /// Whether another hook may run now.
    package var hasRoom: Bool { running.count < Self.runningCountMax }

    /// Runs the hook for a notification at once; there must be room.
    package func start(_ entry: InboxEntry) -> Start {
        precondition(hasRoom, "who starts a hook looks for room before")
        guard let program = find(entry.appID) else { return .none }
        let number = entry.entry
        let process = LimitedProcess(
            command(program, entry), on: loop, timeLimit: timeLimit, outputByteCountMax: Self.outputByteCountMax
        ) { [weak self] result in
            self?.running[number] = nil
            if case .failure(let failure) = result { self?.fail(number, Self.text(of: failure, program)) }
            self?.onRoom?()
        }
        if let failure = process.startFailure {
            process.cancel()
            let text = Self.text(of: failure, program)
            agentLog.warning("hook_failed", ["entry": "\(number)", "error": text])
            return .failed(text)
        }
        running[number] = process
        return .begun
    }

    /// Short, and what matters first: a list of notifications shows its beginning.
    private static func text(of failure: LimitedProcess.Failure, _ program: String) -> String {
        let name = program.split(separator: "/").last ?? ""
        let isThere = unsafe access(program, F_OK) == 0
        // The kernel says so of a script that is there when the program that its first line names is not.
        if case .notStarted(ENOENT) = failure, isThere {
            return "hook \(name): the interpreter in its first line is missing"
        }
        if case .notStarted(ENOEXEC) = failure { return "hook \(name): its first line does not begin with #!" }
        return "hook \(name): \(failure.message)"
    }

    private func fail(_ entry: Int64, _ text: String) {
        agentLog.warning("hook_failed", ["entry": "\(entry)", "error": text])
        onFailure?(entry, text)
    }

    private func command(_ program: String, _ entry: InboxEntry) -> LimitedProcess.Command {
        var environment = environment
        environment["POSTHORN_APP_ID"] = entry.appID
        environment["POSTHORN_TITLE"] = DisplayText.plain(entry.title ?? "", scalarCountMax: .max)
        environment["POSTHORN_BODY"] = DisplayText.plain(entry.body ?? "", scalarCountMax: .max)
        environment["POSTHORN_ENTRY"] = "\(entry.entry)"
        return LimitedProcess.Command(program, [], environment: environment, input: entry.notificationJSON)
    }

    // MARK: Finding

    /// The program for an app; nil when there is none, or one that others could have put there.
    private func find(_ appID: String) -> String? {
        guard DesktopEntry.isValidID(appID) else { return nil }
        for name in [appID, "any"] {
            for folder in folders {
                let path = "\(folder)/\(name)"
                guard unsafe access(path, F_OK) == 0 else { continue }
                guard Self.isUsable(path) else {
                    agentLog.warning("hook_refused", ["path": path, "remedy": "chmod go-w,u+x; owner root or you"])
                    return nil
                }
                return path
            }
        }
        return nil
    }

    /// Whether it can be run, and nobody else could have put it there.
    private static func isUsable(_ path: String) -> Bool {
        let folder = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
        let isExecutable = unsafe access(path, X_OK) == 0
        return isExecutable && isOwn(folder) && isOwn(path)
    }

    /// Whether nobody but root and this person can change it; where a link leads counts.
    private static func isOwn(_ path: String) -> Bool {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else { return false }
        return (facts.st_uid == 0 || facts.st_uid == geteuid()) && facts.st_mode & 0o022 == 0
    }
}
