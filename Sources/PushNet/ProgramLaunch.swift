// SPDX-License-Identifier: Apache-2.0

internal import CPushShims
internal import Glibc

/// The parameters for starting a program in its own session, which inherits only the descriptors listed here.
package struct ProgramLaunch: Sendable {
    /// The absolute path; neither `PATH` nor a shell is used.
    package var program: String
    /// The argument vector, starting with the program's own name.
    package var arguments: [String]
    /// The complete environment.
    package var environment: [String: String]
    /// The working directory; nil for the current one.
    package var directory: String?
    /// The descriptor for its standard input; nil for an empty input.
    package var input: Int32?
    /// The descriptor for its standard output; nil to share ours.
    package var output: Int32?
    /// The descriptor for its standard error; nil to share ours.
    package var errorOutput: Int32?

    /// Creates the required parameters; the optional ones can be set afterwards.
    package init(_ program: String, _ arguments: [String], environment: [String: String]) {
        self.program = program
        self.arguments = arguments
        self.environment = environment
    }

    /// Starts the program with `posix_spawn`; the caller must wait for the child.
    ///
    /// All other descriptors are closed in the child, since some libraries do not mark theirs close-on-exec.
    ///
    /// - Returns: The process ID, which is also the ID of its session and process group.
    /// - Throws: `NetError.system` if the program is missing or not executable, or if system resources are exhausted.
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

    /// Returns spawn attributes for a new session with default signals: this process blocks the signals that it reads
    /// from a queue.
    private static func attributes() -> posix_spawnattr_t {
        var attributes = posix_spawnattr_t()
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_init(&attributes)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        // The value of POSIX_SPAWN_SETSID in spawn.h, which is visible only with _GNU_SOURCE; it is part of the
        // system's ABI.
        let setSession: Int16 = 0x80
        let flags = Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | setSession
        unsafe posix_spawnattr_setflags(&attributes, flags)
        return attributes
    }
}

/// Calls the body with the texts as the null-terminated array that `posix_spawn` expects.
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
