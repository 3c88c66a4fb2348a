// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// Starts a process with `posix_spawn` and returns its ID.
///
/// Output goes to files, and signals have their defaults. The tests open all files close-on-exec, so that nothing else
/// is inherited.
///
/// - Parameters:
///   - executable: The path of the program.
///   - arguments: The arguments, starting with the program's name.
///   - environment: The variables as `NAME=VALUE`.
///   - inputDescriptor: The standard input; nil for /dev/null.
///   - outputPath: The file for standard output.
///   - errorPath: The file for standard error.
/// - Returns: The process ID.
/// - Throws: `SystemFailure` when it cannot start.
func spawn(
    _ executable: String, arguments: [String], environment: [String], inputDescriptor: Int32?, outputPath: String,
    errorPath: String
) throws -> Int32 {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    if let inputDescriptor {
        unsafe posix_spawn_file_actions_adddup2(&actions, inputDescriptor, 0)
    } else {
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    let flags = O_WRONLY | O_CREAT | O_APPEND
    unsafe posix_spawn_file_actions_addopen(&actions, 1, outputPath, flags, 0o600)
    unsafe posix_spawn_file_actions_addopen(&actions, 2, errorPath, flags, 0o600)

    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    var all = sigset_t()
    unsafe sigemptyset(&none)
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var identifier: pid_t = 0
    let code = unsafe withCStrings(arguments) { arguments in
        unsafe withCStrings(environment) { environment in
            unsafe posix_spawn(&identifier, executable, &actions, &attributes, arguments, environment)
        }
    }
    guard code == 0 else { throw SystemFailure(call: "posix_spawn \(executable)", code: code) }
    return identifier
}

/// Calls a closure with texts as the null-terminated array that `posix_spawn` needs.
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

/// The wait status of a child, which is set when the child ends.
final class CollectedStatus: Sendable {
    private static let running = Int32.min
    // The status is the only value that crosses threads.
    private let status = Atomic<Int32>(CollectedStatus.running)

    /// The status of `waitpid`; nil while the child runs.
    var value: Int32? {
        let value = status.load(ordering: .acquiring)
        return value == Self.running ? nil : value
    }

    /// Waits for the child on a dedicated thread, so that it does not stay a zombie.
    func collect(_ identifier: Int32) {
        Thread.detachNewThread {
            var status: Int32 = 0
            while unsafe waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
            self.status.store(status, ordering: .releasing)
        }
    }
}
