// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// A server, one enrolled person with one registered app, and a provider: where most tests begin.
struct House {
    /// The app, its topic, and the name that people read.
    static let app = "org.example.Mail"

    let server: InstalledServer
    let bus: DesktopBus
    let user: DeviceUser
    let target: ProviderTarget
    let provider: APNsProvider
    /// The app's device token.
    let token: String

    /// Starts everything.
    ///
    /// - Parameters:
    ///   - bus: The session bus; a bare one when nil.
    ///   - environment: For the agent, for example `DISPLAY`.
    ///   - prepare: Called with the person before the app is registered, to write files.
    /// - Throws: What any of the programs says.
    init(
        bus: DesktopBus? = nil, environment: [String: String] = [:], prepare: (DeviceUser) throws -> Void = { _ in }
    ) async throws {
        server = try await InstalledServer()
        target = try await server.addApp(Self.app, isKeyScoped: false)
        if let bus { self.bus = bus } else { self.bus = try await DesktopBus() }
        user = try await DeviceUser(busAddress: self.bus.address, environment: environment)
        try prepare(user)
        try await user.enrol(with: server)
        token = try await user.register(Self.app, name: "Example Mail")
        provider = try await APNsProvider(target)
    }

    /// A notification with only an alert.
    func notification(_ body: String) -> SentNotification {
        SentNotification(token: token, payload: #"{"aps":{"alert":"\#(body)"}}"#)
    }

    /// Sends one more notification, waits until it is there, and answers the texts of all that came before it.
    ///
    /// The order of delivery makes this the end of waiting for something that must not come.
    func bodiesUpToMarker() async throws -> [String] {
        let marker = "marker \(UUID().uuidString)"
        let sent = try await provider.send(notification(marker))
        guard sent.status == 200 else { throw RefusedMarker(result: sent) }
        try await user.waitForEntry("the marker arrives") { $0.body == marker }
        return try await user.inbox().map(\.body).filter { $0 != marker }
    }
}

/// The provider could not send what a test waits for.
struct RefusedMarker: Error {
    let result: SendResult
}
