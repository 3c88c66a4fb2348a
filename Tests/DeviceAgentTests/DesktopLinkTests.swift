// SPDX-License-Identifier: Apache-2.0

import Foundation
import LinuxDesktop
import PushDBus
import PushNet
import TestSupport
import Testing

/// Opens links through a portal on a real bus, and with a real program in the place of `xdg-open`.
struct DesktopLinkTests {
    private let link = "https://example.org/a?b=$(id)&c='d';e"

    @Test(arguments: [nil, "token-1"])
    func `the desktop portal gets the link and the token, once`(token: String?) async throws {
        let home = try AppFolder()
        let session = try DesktopSession(await DesktopBus())
        let portal = try Portal(session, response: 0)
        let result = try await open(home.linkOpener(session), session, token: token)
        portal.stop()
        #expect(result.isSuccess)
        #expect(portal.calls.map(\.member) == ["OpenURI"])
        let arguments = try #require(portal.calls.first?.arguments)
        #expect(arguments[0] == .string("") && arguments[1] == .string(link))
        #expect(arguments[2].text("activation_token") == token ?? "")
    }

    @Test(arguments: [(0, nil), (1, nil), (2, "the desktop portal has no program for it")] as [(UInt32, String?)])
    func `the portal's answer decides whether the link was opened`(response: UInt32, failure: String?) async throws {
        let home = try AppFolder()
        try home.addOpener("exit 0")
        let session = try DesktopSession(await DesktopBus())
        let portal = try Portal(session, response: response)
        let result = try await open(home.linkOpener(session), session)
        portal.stop()
        #expect(result.failure == failure)
        #expect(home.files.read("record").isEmpty, "the portal had it, so xdg-open must not open it again")
    }

    @Test func `a portal that shows a dialog counts as opened`() async throws {
        let home = try AppFolder()
        let session = try DesktopSession(await DesktopBus())
        let portal = try Portal(session, response: nil)
        let opener = home.linkOpener(session, answerTimeout: .milliseconds(50))
        #expect(try await open(opener, session).isSuccess)
        portal.stop()
    }

    @Test func `an error of the portal is reported, and nothing else is started`() async throws {
        let home = try AppFolder()
        try home.addOpener("exit 0")
        let session = try DesktopSession(await DesktopBus())
        let portal = try Portal(session, response: nil, error: "org.freedesktop.portal.Error.NotAllowed")
        let result = try await open(home.linkOpener(session), session)
        portal.stop()
        #expect(result.failure == "org.freedesktop.portal.Error.NotAllowed: no")
        #expect(home.files.read("record").isEmpty)
    }

    @Test func `without a portal, xdg-open gets the link as one argument, and no private variable`() async throws {
        let home = try AppFolder()
        try home.addOpener("exec /bin/sh '\(home.recorder)' \"$@\"")
        let session = try DesktopSession(await DesktopBus())
        #expect(try await open(home.linkOpener(session), session, token: "token-1").isSuccess)
        let record = try await home.record(session)
        #expect(record["arguments"] == "\(link)|")
        #expect(record["XDG_ACTIVATION_TOKEN"] == "token-1")
        #expect(record["POSTHORN_AGENT_ENROLMENT_CODE"] == "")
        #expect(record["runs"] == "1")
    }

    @Test func `a portal that cannot open links is replaced by xdg-open`() async throws {
        let home = try AppFolder()
        try home.addOpener("exec /bin/sh '\(home.recorder)' \"$@\"")
        let session = try DesktopSession(await DesktopBus())
        let portal = try BusConnection(.address(session.bus.address))
        let driver = try BusDriver(loop: session.loop, connection: portal)
        #expect(try portal.requestName("org.freedesktop.portal.Desktop"))
        #expect(try await open(home.linkOpener(session), session).isSuccess)
        #expect(try await home.record(session)["arguments"] == "\(link)|")
        driver.stop()
    }

    @Test(
        arguments: [
            ("exit 3", "xdg-open ended with status 3"), (nil, "there is neither a desktop portal nor xdg-open"),
        ] as [(String?, String)])
    func `a link that no program opens gives the reason`(script: String?, failure: String) async throws {
        let home = try AppFolder()
        if let script { try home.addOpener(script) }
        let session = try DesktopSession(await DesktopBus())
        #expect(try await open(home.linkOpener(session), session).failure == failure)
    }

    private func open(
        _ opener: LinkOpener, _ session: DesktopSession, token: String? = nil
    ) async throws -> Result<Void, AppOpenError> {
        var results: [Result<Void, AppOpenError>] = []
        opener.open(link, activationToken: token) { results.append($0) }
        let result = try await session.value("opening has a result") { results.first }
        #expect(results.count == 1)
        return result
    }
}

/// The portal of a desktop on the session's bus, which records its calls.
private final class Portal {
    private(set) var calls: [IncomingCall] = []
    private let connection: BusConnection
    private let driver: BusDriver

    /// Serves the portal.
    ///
    /// - Parameters:
    ///   - session: The session whose loop drives the portal.
    ///   - response: The code of `Response`; nil for no answer.
    ///   - error: The name of the error with which the portal refuses; nil to accept.
    /// - Throws: `BusError`; `Occupied` if the bus has a portal.
    init(_ session: DesktopSession, response: UInt32?, error: String? = nil) throws {
        connection = try BusConnection(.address(session.bus.address))
        driver = try BusDriver(loop: session.loop, connection: connection)
        guard try connection.requestName("org.freedesktop.portal.Desktop") else { throw Occupied() }
        try connection.serve(
            path: "/org/freedesktop/portal/desktop", interface: "org.freedesktop.portal.OpenURI",
            introspection: "<node/>"
        ) { [unowned self] call in
            calls.append(call)
            if let error { return .failure(BusError(name: error, message: "no")) }
            let sender = call.sender.dropFirst().replacingOccurrences(of: ".", with: "_")
            let token = call.arguments[2].text("handle_token")
            let path = "/org/freedesktop/portal/desktop/request/\(sender)/\(token)"
            if let response {
                session.loop.atEndOfTurn { [unowned self] in
                    try? connection.emit(
                        path, "org.freedesktop.portal.Request", "Response", [.uint32(response), .dictionary([])])
                }
            }
            return .success([.string(path)])
        }
    }

    private struct Occupied: Error {}

    func stop() { driver.stop() }
}

extension AppFolder {
    /// Adds a script that takes the place of `xdg-open`.
    fileprivate func addOpener(_ script: String) throws {
        try files.makeDirectory("bin")
        // The agent's own search path must not lead to an installed xdg-open.
        try files.write("#!/bin/sh\nexport PATH=/usr/bin:/bin\n\(script)\n", to: "bin/xdg-open", permissions: 0o700)
    }

    fileprivate func linkOpener(
        _ session: DesktopSession, answerTimeout: Duration = .seconds(600)
    ) -> LinkOpener {
        LinkOpener(
            connection: session.connection, loop: session.loop,
            environment: ["PATH": files.path(of: "bin"), "POSTHORN_AGENT_ENROLMENT_CODE": "x", "HOME": files.path],
            answerTimeout: answerTimeout)
    }
}

extension Result where Success == Void, Failure == AppOpenError {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }

    /// The detail of a link that was not opened; nil for a success and for other errors.
    fileprivate var failure: String? {
        if case .failure(.linkNotOpened(let text)) = self { text } else { nil }
    }
}
