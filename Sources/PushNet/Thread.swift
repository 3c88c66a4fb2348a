// SPDX-License-Identifier: Apache-2.0

internal import CLinux
internal import CPushShims
internal import Glibc
internal import Synchronization

/// A POSIX thread with a name.
package final class Thread: Sendable {
    /// The stack size, large enough for deep call chains in debug and sanitizer builds; only touched pages cost memory.
    private static let stackByteCount = 4 << 20

    private let identifier: pthread_t
    /// Whether `join` was called; it needs no memory ordering, since it only detects misuse.
    private let isJoined = Atomic(false)

    /// Creates the thread and starts it immediately.
    ///
    /// - Parameters:
    ///   - name: The name in ps and debuggers; Linux keeps the first 15 bytes.
    ///   - body: The work of the thread, which ends when it returns.
    package init(name: String, _ body: @escaping @Sendable () -> Void) {
        var attributes = pthread_attr_t()
        var identifier: pthread_t = 0
        let start = unsafe Unmanaged.passRetained(ThreadStart(name: name, body: body))
        unsafe Self.check(pthread_attr_init(&attributes), "pthread_attr_init")
        unsafe Self.check(pthread_attr_setstacksize(&attributes, Self.stackByteCount), "pthread_attr_setstacksize")
        // EAGAIN is an external failure, but a server whose loops cannot start can only stop.
        unsafe Self.check(
            pthread_create(&identifier, &attributes, threadMain, start.toOpaque()),
            "pthread_create (is TasksMax or the limit of processes reached?)")
        unsafe Self.check(pthread_attr_destroy(&attributes), "pthread_attr_destroy")
        self.identifier = identifier
    }

    /// Detaches a thread that was not joined, so that its stack is freed when it ends.
    deinit {
        guard !isJoined.load(ordering: .relaxed) else { return }
        _ = pthread_detach(identifier)
    }

    /// Waits for the thread's end; call it once.
    package func join() {
        let wasJoined = isJoined.exchange(true, ordering: .relaxed)
        precondition(!wasJoined, "a thread was joined twice")
        Self.check(pthread_join(identifier, nil), "pthread_join")
    }

    private static func check(_ code: Int32, _ call: StaticString) {
        precondition(code == 0, "\(call) failed: errno \(code)")
    }
}

/// The parameters of a new thread, passed to it as one retained pointer.
private final class ThreadStart: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

/// The first function of the thread.
///
/// It is a global function and not a closure, because a closure could inherit actor isolation from its context and
/// would then stop the process on this thread.
private func threadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { preconditionFailure("a thread started without its body") }
    let start = unsafe Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue()
    unsafe push_name_this_thread(start.name)
    start.body()
    return nil
}
