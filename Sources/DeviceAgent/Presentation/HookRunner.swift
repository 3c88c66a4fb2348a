// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushCore
package import PushNet

/// Runs the programs that a person or an administrator wants told of each notification that is presented.
///
/// `hooks/APPID` or else `hooks/any` in the person's configuration, or else in /etc/posthorn. No shell reads anything: the
/// notification is JSON on standard input and a few variables.
package final class HookRunner {
    /// Hooks that run at a time; the others wait in a line.
    package static let runningCountMax = 4
    /// Hooks that may wait; when there are more, the newest does not run.
    package static let waitingCountMax = 100
    /// After this a hook is killed with all that it started.
    package static let timeLimit: Duration = .seconds(30)
    /// A hook that prints more is killed; nothing reads it.
    package static let outputByteCountMax = 64 * 1024

    /// Gets the entry and what went wrong with its hook.
    package var onFailure: ((Int64, String) -> Void)?

    private let loop: EventLoop
    private let folders: [String]
    private let environment: [String: String]
    private let timeLimit: Duration
    private var waiting: [(entry: Int64, command: LimitedProcess.Command)] = []
    private var running: [Int64: LimitedProcess] = [:]

    /// Looks in folders, in this order.
    package init(
        loop: EventLoop, folders: [String], environment: [String: String],
        timeLimit: Duration = HookRunner.timeLimit
    ) {
        self.loop = loop
        self.folders = folders
        // An enrolment code is nobody else's business.
        self.environment = environment.filter {
            !AppLauncher.ownVariables.contains($0.key) && !$0.key.hasPrefix("POSTHORN_AGENT_")
        }
        self.timeLimit = timeLimit
    }

    /// Whether an app has a hook now.
    package func hasHook(for appID: String) -> Bool { find(appID) != nil }

    /// Runs the hook for a notification, or puts it in the line; false when there is none.
    package func run(_ entry: InboxEntry) -> Bool {
        guard let program = find(entry.appID) else { return false }
        guard waiting.count < Self.waitingCountMax else {
            // What becomes of the entry is written first.
            loop.atEndOfTurn { [weak self] in self?.fail(entry.entry, "too many hooks waited") }
            return true
        }
        waiting.append((entry.entry, command(program, entry)))
        startNext()
        return true
    }

    private func startNext() {
        while running.count < Self.runningCountMax, !waiting.isEmpty {
            let (entry, command) = waiting.removeFirst()
            running[entry] = LimitedProcess(
                command, on: loop, timeLimit: timeLimit, outputByteCountMax: Self.outputByteCountMax
            ) { [weak self] result in
                self?.running[entry] = nil
                if case .failure(let failure) = result { self?.fail(entry, "\(command.program) \(failure.message)") }
                self?.startNext()
            }
        }
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
                guard Self.isOwn(folder), Self.isOwn(path), unsafe access(path, X_OK) == 0 else {
                    agentLog.warning("hook_refused", ["path": path, "remedy": "chmod go-w,u+x; owner root or you"])
                    return nil
                }
                return path
            }
        }
        return nil
    }

    /// Whether nobody but root and this person can change it; where a link leads counts.
    private static func isOwn(_ path: String) -> Bool {
        var facts = stat()
        guard unsafe stat(path, &facts) == 0 else { return false }
        return (facts.st_uid == 0 || facts.st_uid == geteuid()) && facts.st_mode & 0o022 == 0
    }
}
