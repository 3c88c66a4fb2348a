// SPDX-License-Identifier: Apache-2.0

internal import CPushShims
internal import Glibc

/// A program that is to be started, in a session of its own and with nothing of ours but what it is given.
package struct ProgramLaunch: Sendable {
    /// The absolute path; nothing looks it up, and no shell reads it.
    package var program: String
    /// The vector, the program's own name first.
    package var arguments: [String]
    /// All of it.
    package var environment: [String: String]
    /// Where it starts; nil for where we are.
    package var directory: String?
    /// The descriptor that becomes its standard input; nothing when nil.
    package var input: Int32?
    /// The descriptor that becomes its standard output; ours when nil.
    package var output: Int32?
    /// The descriptor that becomes its standard error; ours when nil.
    package var errorOutput: Int32?

    /// Joins what there must be.
    package init(_ program: String, _ arguments: [String], environment: [String: String]) {
        self.program = program
        self.arguments = arguments
        self.environment = environment
    }

    /// Starts it with `posix_spawn`; the caller collects its end.
    ///
    /// Every other descriptor is closed in it: not all libraries mark theirs to be.
    /// - Returns: Its number, which is that of its session and of its process group, too.
    /// - Throws: `NetError.system`: missing, not executable, or the system is out of something.
    package func start() throws(NetError) -> Int32 {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe add(to: &actions)
        var attributes = Self.attributes()
        defer { unsafe posix_spawnattr_destroy(&attributes) }

        var identifier: pid_t = 0
        let variables = environment.map { "\($0.key)=\($0.value)" }
        let code = unsafe withCStrings(arguments) { arguments in
            unsafe withCStrings(variables) { variables in
                unsafe posix_spawn(&identifier, program, &actions, &attributes, arguments, variables)
            }
        }
        guard code == 0 else { throw .system(call: "posix_spawn", code: code, subject: program) }
        return identifier
    }

    private func add(to actions: inout posix_spawn_file_actions_t) {
        if let directory { unsafe push_spawn_in_directory(&actions, directory) }
        if let input {
            unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        } else {
            unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        if let output { unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) }
        if let errorOutput { unsafe posix_spawn_file_actions_adddup2(&actions, errorOutput, STDERR_FILENO) }
        unsafe push_spawn_closing_from(&actions, STDERR_FILENO + 1)
    }

    /// A new session, and signals as in a fresh process: we block those that we read from a queue.
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
