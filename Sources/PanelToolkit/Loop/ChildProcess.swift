// SPDX-License-Identifier: Apache-2.0

internal import CAdwaita

/// A child process (`GSubprocess`); it is killed when this object is released.
package final class ChildProcess {
    private let process: NativeObject

    /// Starts a process with `g_subprocess_launcher_spawnv`; nil if that fails.
    ///
    /// - Parameters:
    ///   - words: The path of the executable, then its arguments.
    ///   - input: The descriptor of its standard input, which this call closes in any case.
    ///   - output: The descriptor of its standard output, which this call closes too; inherited if negative.
    package init?(_ words: [String], input: Int32, output: Int32) {
        let launcher = unsafe NativeObject(adopting: g_subprocess_launcher_new(GSubprocessFlags(rawValue: 0)))
        unsafe g_subprocess_launcher_take_stdin_fd(launcher.address, input)
        if output >= 0 { unsafe g_subprocess_launcher_take_stdout_fd(launcher.address, output) }
        var copies = unsafe words.map { unsafe UnsafePointer<CChar>(g_strdup($0)) }
        unsafe copies.append(nil)
        defer { unsafe copies.forEach { unsafe g_free(UnsafeMutableRawPointer(mutating: $0)) } }
        guard let process = unsafe g_subprocess_launcher_spawnv(launcher.address, copies, nil) else { return nil }
        self.process = unsafe NativeObject(adopting: process)
    }

    /// Kills the process (`g_subprocess_force_exit`).
    deinit { unsafe g_subprocess_force_exit(process.address) }
}
