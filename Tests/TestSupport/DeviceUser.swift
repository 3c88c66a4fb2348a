// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A person at a Linux machine: home and XDG directories of their own, a session bus, and a `posthorn-agent`.
package final class DeviceUser: Sendable {
    /// Home, configuration, state, data and run-time directory.
    package let files: TemporaryDirectory
    /// What every program of this person gets.
    package let environment: [String: String]
    /// The agent of now; another one after `startAgent`.
    package let agent: CurrentProcess

    /// Makes the directories and starts the agent.
    ///
    /// - Parameters:
    ///   - busAddress: The session bus.
    ///   - environment: More variables, for example `DISPLAY`.
    /// - Throws: `SystemFailure`, `DeadlinePassed`.
    package init(busAddress: String, environment: [String: String] = [:]) async throws {
        files = try TemporaryDirectory()
        var variables = environment
        for (variable, folder) in Self.folders { variables[variable] = try files.makeDirectory(folder) }
        variables["HOME"] = files.path
        variables["DBUS_SESSION_BUS_ADDRESS"] = busAddress
        // A desktop of the machine that runs the tests is none of this person's business.
        for foreign in ["WAYLAND_DISPLAY", "XDG_CURRENT_DESKTOP", "XDG_SESSION_ID", "PULSE_SERVER"] {
            variables[foreign] = environment[foreign] ?? ""
        }
        self.environment = variables
        agent = CurrentProcess(try RunningProcess(RepositoryPaths.program("posthorn-agent"), environment: variables))
        try await waitForAgent()
    }

    private static let folders = [
        "XDG_CONFIG_HOME": "config", "XDG_STATE_HOME": "state", "XDG_DATA_HOME": "data", "XDG_CACHE_HOME": "cache",
        "XDG_RUNTIME_DIR": "run",
    ]

    /// Starts the agent again, after it was killed.
    package func startAgent() async throws {
        try launchAgent()
        try await waitForAgent()
    }

    /// Starts the agent again and does not wait for it.
    package func launchAgent() throws {
        agent.replace(try RunningProcess(RepositoryPaths.program("posthorn-agent"), environment: environment))
    }

    /// Runs a command of `posthorn` as this person.
    ///
    /// - Parameter arguments: Without the program's name.
    /// - Returns: Exit and output, whatever they are.
    /// - Throws: `DeadlinePassed` when it does not end.
    package func run(_ arguments: [String]) async throws -> ProgramResult {
        try await RunningProcess.run(RepositoryPaths.program("posthorn"), arguments, environment: environment)
    }

    /// Runs a command of `posthorn` as this person, and insists that it succeeds.
    ///
    /// - Parameter arguments: Without the program's name.
    /// - Returns: What it printed.
    /// - Throws: `UnexpectedOutput` with all that it said.
    @discardableResult
    package func posthorn(_ arguments: String...) async throws -> ProgramResult {
        try await run(arguments).succeeded()
    }

    /// Enrols this device with a server.
    package func enrol(with server: InstalledServer) async throws {
        let code = try await server.enrolmentCode()
        try await posthorn("agent", "enrol", server.url, code)
        try await waitUntilConnected()
    }

    /// Registers an app and answers its device token.
    package func register(_ app: String, topic: String? = nil, name: String? = nil) async throws -> String {
        var arguments = ["register", app]
        if let topic { arguments += ["--topic", topic] }
        if let name { arguments += ["--name", name] }
        return try await run(arguments).succeeded().output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Waits until the agent's stream is open.
    package func waitUntilConnected() async throws {
        try await eventually("the agent is connected", evidence: { self.agent.now.transcript }) {
            try await posthorn("agent", "status", "--json").decoded(AgentStatus.self).connected
        }
    }

    /// What the inbox holds, newest first.
    ///
    /// - Parameter limit: How many entries at most.
    /// - Returns: The entries.
    /// - Throws: What `posthorn` says against it.
    package func inbox(limit: Int = 200) async throws -> [InboxEntry] {
        try await posthorn("inbox", "list", "--limit", "\(limit)", "--json").decoded(Inbox.self).entries
    }

    /// Where the agent keeps what it knows: for a test that writes while none runs.
    package var databasePath: String { files.path(of: "state/posthorn/agent.sqlite") }

    /// All that the inbox holds, oldest first, page by page.
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

    /// Waits until an entry of the inbox fulfils a condition.
    ///
    /// - Parameters:
    ///   - what: The condition in words.
    ///   - condition: Asked for each entry.
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
    /// The entry's number.
    package let entry: Int64
    /// The server's unique id of the notification.
    package let id: String
    /// The alert's title.
    package let title: String
    /// The alert's body.
    package let body: String
    /// For example `waiting`, `shown`, `viewed`, `closed`, `suppressed`.
    package let state: String
    /// Why it was suppressed, or what went wrong.
    package let reason: String
    /// Whether the person has seen it.
    package let read: Bool
}
