// SPDX-License-Identifier: Apache-2.0

internal import AgentStore
internal import CommandLineKit
internal import Glibc
internal import LinuxDesktop
internal import PushCore
internal import PushNet

/// Runs hooks: programs of the user or the administrator that get each presented notification.
///
/// A hook is `hooks/APPID` or else `hooks/any`, in the user's configuration or else in /etc/posthorn. No shell is
/// involved. The notification is passed as JSON on standard input and in a few variables. The caller queues
/// notifications while all slots are in use.
final class HookRunner {
    /// The maximum number of hooks that run at the same time.
    static let runningCountMax = 4
    /// The time limit of a hook; after it, the hook is killed with all processes that it started.
    static let timeLimit: Duration = .seconds(30)
    /// The maximum output of a hook in bytes; a hook that prints more is killed.
    ///
    /// The output is ignored.
    static let outputByteCountMax = 64 * 1024

    /// The maximum number of hooks that `summary` names.
    private static let namedCountMax = 5

    /// The result of starting a hook.
    enum Start: Equatable {
        /// The app has no hook.
        case none
        /// The hook runs; `onFailure` reports a later error.
        case begun
        /// The hook did not start, for this reason.
        case failed(String)
    }

    /// Called with the entry and the error of a hook that had started.
    var onFailure: ((EntryID, String) -> Void)?
    /// Called when a slot for another hook is free.
    var onRoom: (() -> Void)?
    /// The delay before the next attempt to start a failed hook that replaces a presenter.
    let restartPause: Duration

    private let loop: EventLoop
    private let folders: [String]
    private let environment: [String: String]
    private let timeLimit: Duration
    private var running: [EntryID: LimitedProcess] = [:]

    /// Searches hooks in these folders, in this order.
    init(
        loop: EventLoop, folders: [String], environment: [String: String],
        timeLimit: Duration = HookRunner.timeLimit, restartPause: Duration = Limits.hookRestartPause
    ) {
        self.loop = loop
        self.folders = folders
        self.environment = environment
        self.timeLimit = timeLimit
        self.restartPause = restartPause
    }

    /// Returns whether an app has a usable hook now.
    func hasHook(for appID: AppID) -> Bool { find(appID) != nil }

    /// The names of the usable hooks, for display; nil if there are none.
    var summary: String? {
        let names = Set(folders.flatMap { FolderListing.names(in: $0) }).sorted()
        let usable = names.filter { name in
            guard DesktopEntry.isValidID(name) else { return false }
            return folders.map { "\($0)/\(name)" }.first { unsafe access($0, F_OK) == 0 }.map(Self.isUsable) ?? false
        }
        guard !usable.isEmpty else { return nil }
        let rest = usable.count - Self.namedCountMax
        return usable.prefix(Self.namedCountMax).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }

    /// Whether a slot for another hook is free.
    var hasRoom: Bool { running.count < Self.runningCountMax }

    /// Starts the hook for a notification; requires `hasRoom`.
    func start(_ entry: InboxEntry) -> Start {
        precondition(hasRoom, "a hook needs a free slot")
        guard let program = find(entry.appID) else { return .none }
        let number = entry.entry
        let process = LimitedProcess(
            command(program, entry), on: loop, timeLimit: timeLimit, outputByteCountMax: Self.outputByteCountMax,
            log: agentLog
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

    /// Returns a short error text that begins with the cause, because a list shows only its beginning.
    private static func text(of failure: LimitedProcess.Failure, _ program: String) -> String {
        let name = program.split(separator: "/").last ?? ""
        let isThere = unsafe access(program, F_OK) == 0
        // The kernel returns ENOENT for an existing script, too, when the interpreter in its first line does not exist.
        if case .notStarted(ENOENT) = failure, isThere {
            return "hook \(name): the interpreter in its first line is missing"
        }
        if case .notStarted(ENOEXEC) = failure { return "hook \(name): its first line does not begin with #!" }
        return "hook \(name): \(failure.message)"
    }

    private func fail(_ entry: EntryID, _ text: String) {
        agentLog.warning("hook_failed", ["entry": "\(entry)", "error": text])
        onFailure?(entry, text)
    }

    private func command(_ program: String, _ entry: InboxEntry) -> LimitedProcess.Command {
        var environment = environment
        environment["POSTHORN_APP_ID"] = entry.appID.text
        environment["POSTHORN_TITLE"] = DisplayText.plain(entry.title ?? "", scalarCountMax: .max)
        environment["POSTHORN_BODY"] = DisplayText.plain(entry.body ?? "", scalarCountMax: .max)
        environment["POSTHORN_ENTRY"] = "\(entry.entry)"
        return LimitedProcess.Command(program, [], environment: environment, input: entry.notificationJSON)
    }

    // MARK: Finding

    /// Returns the program for an app; nil if the app has no hook, or if another user could have put it there.
    private func find(_ appID: AppID) -> String? {
        guard DesktopEntry.isValidID(appID.text) else { return nil }
        for name in [appID.text, "any"] {
            for folder in folders {
                let path = "\(folder)/\(name)"
                guard unsafe access(path, F_OK) == 0 else { continue }
                guard Self.isUsable(path) else {
                    let remedy =
                        "make root or this user the owner of the file and its directory, then run: chmod go-w "
                        + "\(folder) && chmod go-w,u+x \(path)"
                    agentLog.warning("hook_refused", ["path": path, "remedy": remedy])
                    return nil
                }
                return path
            }
        }
        return nil
    }

    /// Returns whether the program is executable, and only root and this user could have put it there.
    private static func isUsable(_ path: String) -> Bool {
        let folder = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
        let isExecutable = unsafe access(path, X_OK) == 0
        return isExecutable && isOwn(folder) && isOwn(path)
    }

    /// Returns whether only root and this user can change the file; symbolic links are followed.
    private static func isOwn(_ path: String) -> Bool {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else { return false }
        return (facts.st_uid == 0 || facts.st_uid == geteuid()) && facts.st_mode & 0o022 == 0
    }
}
