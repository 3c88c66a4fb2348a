// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushCore
import PushSQLite
import TestSupport
import Testing

/// A whole agent on a desktop, without a server: the test passes notifications to it directly.
final class DesktopAgent {
    let session: DesktopSession
    let database: AgentDatabase
    let agent: Agent
    let presenter: DesktopPresenter
    private var sentCount: UInt64 = 0

    init(
        _ file: DatabaseFile, _ session: DesktopSession, desk: DesktopState = DesktopState(),
        answerTimeout: Duration = DesktopPresenter.answerTimeout, words: [String: String] = [:]
    ) throws {
        self.session = session
        database = try file.open()
        try database.apps.save(Sample.app)
        presenter = try session.presenter(answerTimeout: answerTimeout)
        agent = Agent(
            loop: session.loop, database: database, secretFile: SecretFile(path: file.directory.path(of: "secret")),
            authorityFile: EnrolledAuthority(path: file.directory.path(of: "authority.pem")),
            environment: AgentEnvironment(
                presenter: presenter, currentDesktopState: { desk }, texts: { _ in { words[$0] } }))
        sentCount = try database.inbox.newest(countMax: 1).first.map { UInt64($0.entry.rawValue) } ?? 0
        try agent.start()
    }

    /// Receives an alert with a text, and more members of `aps`.
    func receive(_ text: String, _ members: String = "", collapseID: String? = nil) {
        receive(alert: "\"\(text)\"", members, collapseID: collapseID)
    }

    /// Receives an alert as JSON, and more members of `aps`.
    func receive(alert: String, _ members: String = "", collapseID: String? = nil) {
        sentCount += 1
        let payload = #"{"aps":{"alert":\#(alert)\#(members)}}"#
        #expect(
            agent.link.streamReceived([
                .notification(Sample.notification(sentCount, collapseID: collapseID, payload: payload))
            ]))
    }

    /// Returns the states of all entries, oldest first.
    func states() throws -> [AgentStore.InboxEntry.State] {
        try database.inbox.newest(countMax: 1000).reversed().map(\.state)
    }

    /// Waits until no alert is on its way to the screen.
    func settle() async throws {
        try await session.run(until: "all is shown") {
            try database.inbox.newest(countMax: 1000).allSatisfy { $0.state != .waiting && $0.state != .claimed }
        }
    }
}
