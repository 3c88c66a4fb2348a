// SPDX-License-Identifier: Apache-2.0

/// Runs the jobs of tasks on the thread of an event loop.
// Safety: `enqueue` is called only on the loop's thread. Tasks start there, and what they wait for (a response, a reply of
// the bus) resumes them there.
@safe
final class LoopExecutor: TaskExecutor, @unchecked Sendable {
    private weak var loop: EventLoop?

    init(_ loop: EventLoop) { self.loop = loop }

    /// Runs a job at the end of the loop's turn; drops it if the loop no longer exists.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = unsafe asUnownedTaskExecutor()
        loop?.atEndOfTurn { unsafe job.runSynchronously(on: executor) }
    }
}

/// The body of a task that never leaves the thread of its loop.
// Safety: the body is created and run on the loop's thread.
private struct TaskBody: @unchecked Sendable {
    let run: () async -> Void
}

extension EventLoop {
    /// Starts a task on the loop's thread, and runs it until it waits for the first time.
    ///
    /// Call it on the loop's thread. Everything nonisolated that the task awaits runs on this thread as well, between the
    /// loop's events, so the task may use objects that are not Sendable. A task that is resumed continues at the end of
    /// the loop's turn. It must be resumed on the loop's thread, so it must not use `Task.sleep` or an actor.
    ///
    /// - Parameter body: The body, which the task retains until it ends.
    package func startTask(_ body: @escaping () async -> Void) {
        let body = TaskBody(run: body)
        Task.immediate(executorPreference: executor) { await body.run() }
    }
}
