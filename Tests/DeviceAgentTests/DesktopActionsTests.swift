// SPDX-License-Identifier: Apache-2.0

import AgentStore
@testable import DeviceAgent
import PushCore
import PushDBus
import TestSupport
import Testing

/// Checks buttons that apps declare, on notification servers with and without a text field.
struct DesktopActionsTests {
    private static let reply = AppManifest.Action(id: "reply", title: "Reply", takesText: true)
    private static let archive = AppManifest.Action(
        id: "archive", title: "Archive\nit")
    private static let view = AppManifest.Action(id: MessageButtons.viewID, title: "View", isForeground: true)
    private static let answer = AppManifest.Action(id: "answer", title: "", takesText: true)
    private static let withReplies = ["actions", "body", "inline-reply"]

    private func desktop(
        _ actions: [AppManifest.Action], name: String = "scripted", capabilities: [String] = ["actions", "body"]
    ) async throws -> (DesktopSession, ScriptedNotificationServer, DesktopPresenter) {
        let session = try DesktopSession(await DesktopBus())
        let server = try ScriptedNotificationServer(
            session.bus, loop: session.loop, name: name, capabilities: capabilities)
        session.notificationServer = server
        let presenter = try session.presenter()
        var alert = Alert(entry: 1, appID: "org.posthorn.Test", appName: "Test", body: "Hello")
        alert.actions = actions
        _ = try await session.present(alert, with: presenter)
        return (session, server, presenter)
    }

    @Test(
        arguments: [
            (
                "scripted", ["actions"], [archive],
                ["default", "View", "close", "Close", "action-archive", "Archive it"]
            ),
            ("scripted", ["body"], [archive], []),
            (
                "Xfce Notify Daemon", ["actions"], [archive],
                ["close", "Close", "default", "View", "action-archive", "Archive it"]
            ),
            (
                "Xfce Notify Daemon", ["actions"], [view, archive],
                ["close", "Close", "action-message.view", "View", "action-archive", "Archive it"]
            ),
            (
                "scripted", ["actions"], [reply, archive],
                ["default", "View", "close", "Close", "action-reply", "Reply", "action-archive", "Archive it"]
            ),
            (
                "scripted", withReplies, [archive, reply, answer],
                [
                    "default", "View", "close", "Close", "action-archive", "Archive it", "inline-reply", "Reply",
                    "action-answer", "answer",
                ]
            ),
            ("scripted", ["inline-reply"], [reply], []),
        ] as [(String, [String], [AppManifest.Action], [String])])
    func `the app's buttons replace View`(
        name: String, capabilities: [String], actions: [AppManifest.Action], keys: [String]
    ) async throws {
        let (_, server, _) = try await desktop(actions, name: name, capabilities: capabilities)
        #expect(server.shown[0].actions == keys)
        let hasField = keys.contains("inline-reply")
        #expect(server.shown[0].hints[key: "x-kde-reply-placeholder-text"]?.stringValue == (hasField ? "Reply" : nil))
    }

    @Test func `a clicked button is reported once with its ID and the token`() async throws {
        let (session, server, presenter) = try await desktop([Self.reply, Self.archive])
        try server.say("ActivationToken", 1, .string("token-1"))
        try server.say("ActionInvoked", 1, .string("archive"))
        try server.say("ActionInvoked", 1, .string("action-other"))
        try server.say("ActionInvoked", 1, .string("action-archive"))
        try server.say("ActionInvoked", 1, .string("action-archive"))
        try server.say("ActionInvoked", 1, .string("action-reply"))
        try server.say("NotificationClosed", 1, .uint32(2))
        try await session.run(until: "the alert is closed") { server.closed == [1] }
        withExtendedLifetime(presenter) {}
        #expect(session.outcomes == [.init(1, .action(id: "archive", text: nil, activationToken: "token-1"))])
    }

    @Test(arguments: [
        ("See you\n\"there\"", true), ("", false), (String(repeating: "a", count: 16 * 1024), true),
        (String(repeating: "a", count: 16 * 1024 + 1), false),
    ])
    func `a typed reply is reported once with its button`(text: String, isTaken: Bool) async throws {
        let (session, server, presenter) = try await desktop(
            [Self.archive, Self.reply], capabilities: Self.withReplies)
        try server.say("NotificationReplied", 2, .string("for another alert"))
        try server.say("NotificationReplied", 1, .string(text))
        try server.say("NotificationReplied", 1, .string(text))
        try server.say("ActionInvoked", 1, .string("view"))
        try await session.run(until: "the alert is closed") { server.closed == [1] }
        withExtendedLifetime(presenter) {}
        #expect(
            session.outcomes == [.init(1, .action(id: "reply", text: isTaken ? text : nil, activationToken: nil))])
    }

    @Test func `a reply to an alert without a reply button is ignored`() async throws {
        let (session, server, presenter) = try await desktop([Self.archive], capabilities: Self.withReplies)
        try server.say("NotificationReplied", 1, .string("text"))
        try server.say("ActionInvoked", 1, .string("close"))
        try await session.run(until: "the alert is closed") { server.closed == [1] }
        withExtendedLifetime(presenter) {}
        #expect(session.outcomes == [.init(1, .dismissed)])
    }

    @Test func `an alert that hides its texts has no buttons of the app`() {
        var alert = Alert(entry: 1, appID: "a", appName: "A", title: "Bank")
        alert.actions = [Self.archive]
        alert.hideTexts()
        #expect(alert.actions.isEmpty && alert.title == nil)
    }
}
