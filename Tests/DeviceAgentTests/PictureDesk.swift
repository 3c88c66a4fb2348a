// SPDX-License-Identifier: Apache-2.0

@testable import AgentStore
@testable import DeviceAgent
import LinuxDesktop
import LoopTestSupport
import PushCore
import PushNet
import TestSupport
import Testing

/// An agent that gets pictures from a real https server or from files, and runs filters, with a screen that records its
/// alerts.
struct PictureDesk {
    let screen = AlertCollector()
    let database: AgentDatabase
    let agent: Agent
    let loop: EventLoop

    /// Starts an agent.
    ///
    /// - Parameters:
    ///   - directory: The place of its database and its pictures.
    ///   - server: The server of the pictures; nil for none.
    ///   - manifest: The manifest of the app; nil for one that names the server.
    ///   - timeout: The time within which a picture must be ready.
    ///   - byteCountMax: The maximum size of all pictures.
    /// - Throws: An error of the database.
    init(
        _ directory: TemporaryDirectory, _ server: PictureServer?, manifest: String? = nil,
        timeout: Duration = .seconds(60), byteCountMax: Int = Limits.picturesByteCountMax
    ) throws {
        loop = try EventLoop()
        database = try AgentDatabase(path: directory.path(of: "agent.sqlite"))
        let variables = ["PATH": "/usr/bin:/bin"]
        var environment = AgentEnvironment(
            presenter: screen,
            filter: AppFilters(connection: nil, loop: loop, environment: variables, timeLimit: .seconds(60)))
        environment.pictures = PictureQueue.Means(
            fetcher: PictureFetcher(loop: loop, access: ServerAccess(), caFile: server?.caFile),
            converter: PictureConverter(loop: loop, program: RepositoryPaths.program("posthorn-panel")),
            folder: PictureFolder(path: directory.path(of: "pictures"), byteCountMax: byteCountMax), timeout: timeout)
        agent = Agent(
            loop: loop, database: database, secretFile: SecretFile(path: directory.path(of: "secret")),
            authorityFile: EnrolledAuthority(path: directory.path(of: "authority.pem")), environment: environment)
        try agent.start()
        var app = Sample.app
        app.manifestText = Array((manifest ?? #"{"picture_hosts":["\#(server?.host ?? "localhost")"]}"#).utf8)
        try database.apps.save(app)
    }

    /// Receives an alert with the address of its picture; nil for none.
    func receive(_ number: UInt64, picture: String?, topic: String = "org.example.Mail") throws {
        let member = picture.map { #","attachment-url":"\#($0)""# } ?? ""
        try receive(number, payload: #"{"aps":{"alert":"Photo \#(number)"}\#(member)}"#, topic: topic)
    }

    /// Receives a notification.
    func receive(_ number: UInt64, payload: String, topic: String = "org.example.Mail") throws {
        let notification = Sample.notification(number, topic: topic, payload: payload)
        #expect(agent.link.streamReceived([.notification(notification)]))
    }

    func waitForAlert(count: Int = 1) async throws {
        try await loop.run("the alert is shown") { screen.alerts.count >= count }
        #expect(screen.alerts.count == count)
    }

    /// Returns the reasons why parts of an entry were ignored.
    func ignored(_ number: EntryID) throws -> String { try #require(try database.inbox.entry(number)).ignored }
}
