// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushNet

/// Programs that the agent starts, and whose end it collects at once.
///
/// A thread waits for each: it costs nothing while the program runs, and no dead child is left for another part of the
/// process, or for a library, that waits for children of its own.
struct ChildProcesses {
    /// Programs that run at a time and whose end is collected; one more stays in the process table when it ends.
    private static let watchedCountMax = 64

    private let watchedCount = Lock(0)

    /// Why a program did not start.
    struct Failure: Error {
        /// The value of errno.
        var code: Int32
    }

    /// Starts a program with `posix_spawn` in a session of its own, with nothing on standard input.
    ///
    /// - Parameters:
    ///   - program: The absolute path; nothing looks it up, and no shell reads it.
    ///   - arguments: The vector, the program's own name first.
    ///   - environment: All of it.
    /// - Throws: `Failure`: missing, not executable, or the system is out of something.
    func start(_ program: String, _ arguments: [String], environment: [String: String]) throws(Failure) {
        watch(try Self.spawn(program, arguments, environment: environment, input: nil, output: nil))
    }

    /// Starts a program as `start` does; the caller collects its end.
    ///
    /// - Parameters:
    ///   - program: The absolute path.
    ///   - arguments: The vector, the program's own name first.
    ///   - environment: All of it.
    ///   - input: Its standard input; nothing when nil.
    ///   - output: Its standard output; the agent's when nil.
    /// - Returns: Its number, which is that of its session and of its process group, too.
    /// - Throws: `Failure`: missing, not executable, or the system is out of something.
    static func spawn(
        _ program: String, _ arguments: [String], environment: [String: String], input: Int32?, output: Int32?
    ) throws(Failure) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let input {
            unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        } else {
            unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        if let output { unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) }
        var attributes = ChildProcesses.attributes()
        defer { unsafe posix_spawnattr_destroy(&attributes) }

        var identifier: pid_t = 0
        let variables = environment.map { "\($0.key)=\($0.value)" }
        let code = unsafe withCStrings(arguments) { arguments in
            unsafe withCStrings(variables) { variables in
                unsafe posix_spawn(&identifier, program, &actions, &attributes, arguments, variables)
            }
        }
        guard code == 0 else { throw Failure(code: code) }
        return identifier
    }

    private func watch(_ identifier: pid_t) {
        let isRoom = watchedCount.withLock { count in
            guard count < ChildProcesses.watchedCountMax else { return false }
            count += 1
            return true
        }
        guard isRoom else { return }
        Self.collect(identifier) { [watchedCount] in watchedCount.withLock { $0 -= 1 } }
    }

    /// Collects a program when it ends, on a thread of its own, which nobody joins and which ends with the program.
    static func collect(_ identifier: pid_t, then: @escaping @Sendable () -> Void = {}) {
        _ = Thread(name: "app") {
            while waitpid(identifier, nil, 0) < 0, errno == EINTR {}
            then()
        }
    }

    /// A new session, and signals as in a fresh process: the agent blocks those that it reads from its queue.
    private static func attributes() -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t()
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_init(&attributes)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        // POSIX_SPAWN_SETSID of spawn.h, which needs _GNU_SOURCE: part of the system's binary interface.
        let setSession: Int16 = 0x80
        let flags = Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | setSession
        unsafe posix_spawnattr_setflags(&attributes, flags)
        return attributes
    }
}

/// Lends texts as the null-terminated array that `posix_spawn` wants.
private func withCStrings<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers: [UnsafeMutablePointer<CChar>?] = unsafe texts.map { unsafe strdup($0) }
    unsafe pointers.append(nil)
    defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
    return unsafe pointers.withUnsafeBufferPointer { buffer in
        guard let base = buffer.baseAddress else { preconditionFailure("the array ends with nil, so it is not empty") }
        return unsafe body(base)
    }
}
