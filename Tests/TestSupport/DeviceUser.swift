// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A user of a Linux machine: their own home and XDG directories, a session bus, and a `posthorn-agent`.
package final class DeviceUser: Sendable {
    /// The home directory, with the configuration, state, data and runtime directories.
    package let files: TemporaryDirectory
    /// The environment of this user's programs.
    package let environment: [String: String]
    /// The current agent process, which `startAgent` replaces.
    package let agent: CurrentProcess

    /// Creates the directories and starts the agent.
    ///
    /// - Parameters:
    ///   - busAddress: The session bus.
    ///   - environment: Additional variables, for example `DISPLAY`.
    ///   - wrapper: A program and its arguments that executes the first agent in the same process, for example strace.
    /// - Throws: `SystemFailure`, `DeadlinePassed`.
    package init(busAddress: String, environment: [String: String] = [:], wrapper: [String] = []) async throws {
        files = try TemporaryDirectory()
        var variables = environment
        for (variable, folder) in Self.folders { variables[variable] = try files.makeDirectory(folder) }
        variables["HOME"] = files.path
        variables["DBUS_SESSION_BUS_ADDRESS"] = busAddress
        // Hide the desktop of the machine that runs the tests.
        for foreign in ["WAYLAND_DISPLAY", "XDG_CURRENT_DESKTOP", "XDG_SESSION_ID", "PULSE_SERVER"] {
            variables[foreign] = environment[foreign] ?? ""
        }
        self.environment = variables
        let command = wrapper + [RepositoryPaths.program("posthorn-agent")]
        agent = CurrentProcess(
            try RunningProcess(command[0], Array(command.dropFirst()), environment: variables))
        try await waitForAgent()
    }

    private static let folders = [
        "XDG_CONFIG_HOME": "config", "XDG_STATE_HOME": "state", "XDG_DATA_HOME": "data", "XDG_CACHE_HOME": "cache",
        "XDG_RUNTIME_DIR": "run",
    ]

    /// Starts the agent again, after it was killed, and waits until it answers.
    package func startAgent() async throws {
        try launchAgent()
        try await waitForAgent()
    }

    /// Starts the agent again without waiting.
    package func launchAgent() throws {
        agent.replace(try RunningProcess(RepositoryPaths.program("posthorn-agent"), environment: environment))
    }

    /// Runs a `posthorn` command as this user.
    ///
    /// - Parameter arguments: The arguments without the program's name.
    /// - Returns: The exit status and the output, even of a failed command.
    /// - Throws: `DeadlinePassed` when it does not exit.
    package func run(_ arguments: [String]) async throws -> ProgramResult {
        try await RunningProcess.run(RepositoryPaths.program("posthorn"), arguments, environment: environment)
    }

    /// Runs a `posthorn` command as this user, which must succeed.
    ///
    /// - Parameter arguments: The arguments without the program's name.
    /// - Returns: The result with the output.
    /// - Throws: `UnexpectedOutput` with the whole output.
    @discardableResult
    package func posthorn(_ arguments: String...) async throws -> ProgramResult {
        try await run(arguments).succeeded()
    }

    /// Enrols this device with a server and waits until it is connected.
    package func enrol(with server: InstalledServer) async throws {
        let code = try await server.enrolmentCode()
        try await posthorn("agent", "enrol", server.url, code)
        try await waitUntilConnected()
    }

    /// Registers an app and returns its device token.
    package func register(_ app: String, topic: String? = nil, name: String? = nil) async throws -> String {
        var arguments = ["register", app]
        if let topic { arguments += ["--topic", topic] }
        if let name { arguments += ["--name", name] }
        let token = try await run(arguments).succeeded().output.trimmingCharacters(in: .whitespacesAndNewlines)
        SecretWords.add("a device token", token)
        return token
    }

    /// Waits until the agent's stream is open.
    package func waitUntilConnected() async throws {
        try await eventually("the agent is connected", evidence: { self.agent.now.transcript }) {
            try await posthorn("agent", "status", "--json").decoded(AgentStatus.self).connected
        }
    }

    /// Returns the entries of the inbox, newest first.
    ///
    /// - Parameter limit: The maximum number of entries.
    /// - Returns: The entries.
    /// - Throws: `UnexpectedOutput` when `posthorn` fails.
    package func inbox(limit: Int = 200) async throws -> [InboxEntry] {
        try await posthorn("inbox", "list", "--limit", "\(limit)", "--json").decoded(Inbox.self).entries
    }

    /// The path of the agent's database, for tests that write to it while no agent runs.
    package var databasePath: String { files.path(of: "state/posthorn/agent.sqlite") }

    /// Returns all entries of the inbox, oldest first, read page by page.
    package func wholeInbox() async throws -> [InboxEntry] {
        var entries: [InboxEntry] = []
        while true {
            let before = entries.last.map { ["--before", "\($0.entry)"] } ?? []
            let page = try await run(["inbox", "list", "--limit", "1000", "--json"] + before).succeeded()
                .decoded(Inbox.self).entries
            guard !page.isEmpty else { return entries.reversed() }
            entries += page
        }
    }

    /// Waits until an entry of the inbox satisfies a condition.
    ///
    /// - Parameters:
    ///   - what: The condition in words.
    ///   - condition: Returns whether an entry satisfies the condition.
    /// - Returns: The first such entry.
    /// - Throws: `DeadlinePassed` with the agent's log.
    @discardableResult
    package func waitForEntry(
        _ what: String, _ condition: (InboxEntry) -> Bool = { _ in true }
    ) async throws -> InboxEntry {
        try await eventualValue(what, evidence: { self.agent.now.transcript }) {
            try await inbox().first(where: condition)
        }
    }

    /// Waits until the agent answers.
    package func waitForAgent() async throws {
        try await eventually("the agent answers on the bus", evidence: { self.agent.now.transcript }) {
            if agent.now.exit != nil { throw UnexpectedOutput(ended: agent.now) }
            return try await run(["agent", "status", "--json"]).exit == .code(0)
        }
    }

    private struct AgentStatus: Decodable {
        let connected: Bool
    }

    private struct Inbox: Decodable {
        let entries: [InboxEntry]
    }
}

/// An entry of the agent's inbox, as `posthorn inbox list --json` prints it.
package struct InboxEntry: Decodable, Sendable {
    package let entry: Int64
    /// The server's unique ID of the notification.
    package let id: String
    /// The alert's title.
    package let title: String
    /// The alert's body.
    package let body: String
    /// The state, for example `waiting`, `shown`, `viewed`, `closed`, `suppressed`.
    package let state: String
    /// The reason for suppression, or the error.
    package let reason: String
    /// Whether the user has read the entry.
    package let read: Bool
}
