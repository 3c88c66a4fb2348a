// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushNet

/// Starts programs that outlive the call, such as apps, and reaps them when they end.
///
/// ```
/// start ──▶ its first moment ──▶ still runs ──▶ ended, reaped
///                 └── ended ──▶ status reported, reaped
/// ```
///
/// It runs on the loop's thread.
final class ChildProcesses {
    /// The maximum number of running programs that are watched; a further one becomes a zombie when it ends.
    private static let watchedCountMax = 64
    /// The time within which an exit is reported to the caller, because the program may have opened nothing.
    static let firstMoment: Duration = .seconds(1)

    private struct Child {
        var end: WatchedDescriptor
        var timer: TimerID?
        /// The caller's completion; nil once `firstMoment` is over.
        var completion: ((Int32?) -> Void)?
    }

    private let loop: EventLoop
    private var children: [pid_t: Child] = [:]

    init(loop: EventLoop) { self.loop = loop }

    /// The loop ends first, so threads reap the programs that still run.
    deinit { for child in children.keys { Self.collect(child) } }

    /// Starts a program, and reports whether it ended within `firstMoment`.
    ///
    /// - Parameters:
    ///   - launch: The program to start.
    ///   - completion: Called once, after this has returned. Receives the exit status; nil if the program still runs
    ///     or a signal ended it.
    /// - Throws: `NetError.system` when the program is missing or not executable, or when the system is out of
    ///   resources.
    func start(_ launch: ProgramLaunch, completion: @escaping (Int32?) -> Void) throws(NetError) {
        let child = try launch.start()
        guard children.count < Self.watchedCountMax else { return loop.atEndOfTurn { completion(nil) } }
        do throws(NetError) {
            let end = try WatchedDescriptor(try .end(ofChild: child), for: .readable, on: loop) { [weak self] in
                self?.ended(child)
            }
            let timer = loop.schedule(after: Self.firstMoment) { [weak self] in
                self?.answer(child, nil)
            }
            children[child] = Child(end: end, timer: timer, completion: completion)
        } catch {
            Self.collect(child)
            loop.atEndOfTurn { completion(nil) }
        }
    }

    private func ended(_ child: pid_t) {
        var status: Int32 = 0
        guard unsafe waitpid(child, &status, WNOHANG) == child else { return }
        answer(child, status & 0x7F == 0 ? status >> 8 & 0xFF : nil)
        children[child] = nil
    }

    private func answer(_ child: pid_t, _ status: Int32?) {
        if let timer = children[child]?.timer { loop.cancel(timer) }
        children[child]?.timer = nil
        guard let completion = children[child]?.completion else { return }
        children[child]?.completion = nil
        completion(status)
    }

    /// Reaps a program on a detached thread, which ends with the program.
    static func collect(_ identifier: pid_t) {
        _ = Thread(name: "child") { while waitpid(identifier, nil, 0) < 0, errno == EINTR {} }
    }
}
