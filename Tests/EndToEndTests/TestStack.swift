// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport

/// A server, one enrolled user with one registered app, and a provider, with which most tests start.
struct TestStack {
    /// The app's ID, which is also its topic.
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
    ///   - environment: More variables of the agent, for example `DISPLAY`.
    ///   - serverOptions: Additional options of the server.
    ///   - server: The server; a new one when nil.
    ///   - prepare: Called with the user before the app is registered, to write files.
    /// - Throws: The error of one of the programs.
    init(
        bus: DesktopBus? = nil, environment: [String: String] = [:], serverOptions: [String] = [],
        server: InstalledServer? = nil, prepare: (DeviceUser) throws -> Void = { _ in }
    ) async throws {
        if let server { self.server = server } else { self.server = try await InstalledServer(options: serverOptions) }
        let server = self.server
        target = try await server.addApp(Self.app, isKeyScoped: false)
        if let bus { self.bus = bus } else { self.bus = try await DesktopBus() }
        user = try await DeviceUser(busAddress: self.bus.address, environment: environment)
        try prepare(user)
        try await user.enrol(with: server)
        token = try await user.register(Self.app, name: "Example Mail")
        provider = try await APNsProvider(target)
    }

    /// Returns a notification with only an alert.
    func notification(_ body: String) -> SentNotification {
        SentNotification(token: token, payload: #"{"aps":{"alert":"\#(body)"}}"#)
    }

    /// Sends one more notification, waits until it arrives, and returns the texts of all earlier ones.
    ///
    /// Deliveries come in order. So a notification that is missing from the result does not arrive.
    ///
    /// - Returns: The bodies of the other entries, newest first.
    /// - Throws: `DeadlinePassed`; `RefusedMarker` when the server refuses the notification.
    func bodiesUpToMarker() async throws -> [String] {
        let marker = "marker \(UUID().uuidString)"
        let sent = try await provider.send(notification(marker))
        guard sent.status == 200 else { throw RefusedMarker(result: sent) }
        try await user.waitForEntry("the marker arrives") { $0.body == marker }
        return try await user.inbox().map(\.body).filter { $0 != marker }
    }
}

/// Reports that the provider could not send the notification that a test waits for.
struct RefusedMarker: Error {
    let result: SendResult
}
