// SPDX-License-Identifier: Apache-2.0

/// The environment of all programs that the agent starts, such as apps, hooks and filters.
enum ProgramEnvironment {
    /// The service manager's variables, which are meant for the agent alone.
    private static let ofServiceManager: Set<String> = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "INVOCATION_ID",
        "JOURNAL_STREAM", "SYSTEMD_EXEC_PID", "MAINPID", "MANAGERPID", "CREDENTIALS_DIRECTORY", "STATE_DIRECTORY",
        "RUNTIME_DIRECTORY", "CONFIGURATION_DIRECTORY", "CACHE_DIRECTORY", "LOGS_DIRECTORY",
    ]

    /// Returns an environment without the agent's private variables, such as an enrolment code or a proxy's password.
    static func withoutOwn(_ environment: [String: String]) -> [String: String] {
        environment.filter { !ofServiceManager.contains($0.key) && !$0.key.utf8.starts(with: "POSTHORN_AGENT_".utf8) }
    }
}
