// SPDX-License-Identifier: Apache-2.0

/// What programs that the agent starts get of its environment: apps, hooks, filters and all others, by one rule.
enum ProgramEnvironment {
    /// What the service manager tells the agent and no program must take for its own.
    private static let ofServiceManager: Set<String> = [
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "INVOCATION_ID",
        "JOURNAL_STREAM", "SYSTEMD_EXEC_PID", "MAINPID", "MANAGERPID", "CREDENTIALS_DIRECTORY", "STATE_DIRECTORY",
        "RUNTIME_DIRECTORY", "CONFIGURATION_DIRECTORY", "CACHE_DIRECTORY", "LOGS_DIRECTORY",
    ]

    /// All but what is the agent's own business: an enrolment code, or a proxy's password, is nobody else's.
    static func withoutOwn(_ environment: [String: String]) -> [String: String] {
        environment.filter { !ofServiceManager.contains($0.key) && !$0.key.utf8.starts(with: "POSTHORN_AGENT_".utf8) }
    }
}
