// SPDX-License-Identifier: Apache-2.0

@testable import AgentStore
import PushAPI
import PushCore
import TestSupport

/// A database file that can be closed and opened again, as after a kill.
final class DatabaseFile {
    private let directory: TemporaryDirectory
    var path: String { directory.path(of: "agent.sqlite") }

    init() throws { directory = try TemporaryDirectory() }

    func open() throws -> AgentDatabase { try AgentDatabase(path: path) }
}

/// A registered app for the tests.
enum Sample {
    static let app = RegisteredApp(
        appID: "org.example.Mail", topic: "org.example.Mail", name: "Example Mail", icon: nil,
        deviceToken: String(repeating: "ab", count: 32))
}

extension AgentDatabase {
    /// Saves a setting as if the user had chosen it.
    func choose(_ setting: Setting, _ value: String, for appID: AppID? = nil) throws {
        try choices.set(value, for: setting, appID: appID, event: "")
    }

    /// Returns the content of the outbox, as `sequence outcome reason`.
    func outboxLines() throws -> [String] {
        try outbox.oldest(countMax: 1000)?.acknowledgements.map {
            "\($0.id) \($0.outcome.rawValue)\($0.reason.map { " \($0)" } ?? "")"
        } ?? []
    }
}
