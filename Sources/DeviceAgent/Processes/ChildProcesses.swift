// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushNet

/// Programs that the agent starts and lets go, such as apps, and whose end it collects at once.
///
/// ```
/// start ──▶ its first moment ──▶ runs on ──▶ ended, collected
///                 └── ended ──▶ answered with its status, collected
/// ```
///
/// One thread, that of the loop.
final class ChildProcesses {
    /// Programs that run at a time and whose end is collected; one more stays in the process table when it ends.
    private static let watchedCountMax = 64
    /// A program that ends sooner may have opened nothing.
    static let firstMoment: Duration = .seconds(1)

    private struct Child {
        var end: WatchedDescriptor
        var timer: TimerID?
        /// Until its first moment is over.
        var completion: ((Int32?) -> Void)?
    }

    private let loop: EventLoop
    private var children: [pid_t: Child] = [:]

    init(loop: EventLoop) { self.loop = loop }

    /// The loop went first: nothing watches for the end of what still runs.
    deinit { for child in children.keys { Self.collect(child) } }

    /// Starts a program, and says what became of it in its first moment.
    ///
    /// - Parameters:
    ///   - launch: What to start.
    ///   - completion: Called once, never before this returns: the status that it ended with; nil when it runs on, or when
    ///     a signal ended it.
    /// - Throws: `NetError.system`: missing, not executable, or the system is out of something.
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

    /// Collects a program when it ends, on a thread of its own, which nobody joins and which ends with the program.
    static func collect(_ identifier: pid_t) {
        _ = Thread(name: "child") { while waitpid(identifier, nil, 0) < 0, errno == EINTR {} }
    }
}
