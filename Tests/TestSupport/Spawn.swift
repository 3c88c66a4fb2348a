// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// Starts a process with `posix_spawn`.
///
/// Output goes to files, signals are as in a fresh process. What the tests open is close-on-exec, so that nothing else
/// is inherited.
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

/// Where the status of a child lies once it has ended.
final class CollectedStatus: Sendable {
    private static let running = Int32.min
    // Ordered with nothing else: the status is all that crosses.
    private let status = Atomic<Int32>(CollectedStatus.running)

    /// What `waitpid` said; nil while the child runs.
    var value: Int32? {
        let value = status.load(ordering: .acquiring)
        return value == Self.running ? nil : value
    }

    /// Waits on a thread of its own, so that no dead child lingers.
    func collect(_ identifier: Int32) {
        Thread.detachNewThread {
            var status: Int32 = 0
            while unsafe waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
            self.status.store(status, ordering: .releasing)
        }
    }
}
