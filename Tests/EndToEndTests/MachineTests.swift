// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceEndToEnd {
    /// Runs an agent without a session, with its own bus and with hooks.
    struct MachineTests {
        @Test func `an agent without a session runs a hook, and posthorn reaches it on its bus`() async throws {
            let bus = try await DesktopBus()
            let stack = try await TestStack(
                environment: ["POSTHORN_AGENT_BUS": bus.address]
            ) { user in
                let folder = try user.files.makeDirectory("config/posthorn/hooks")
                let script = "#!/bin/sh\necho \"$POSTHORN_APP_ID $POSTHORN_BODY\" >> '\(user.files.path)/log'\n"
                try user.files.write(script, to: "config/posthorn/hooks/any", permissions: 0o755)
                #expect(FileManager.default.fileExists(atPath: folder))
            }
            #expect(stack.user.agent.now.transcript.contains("presenter=none"))
            #expect(try await stack.user.posthorn("agent", "status").output.contains("Alerts shown by  hooks: any"))
            _ = try await stack.provider.send(stack.notification("disk full"))
            try await stack.user.waitForEntry("the hook is the presenter") { $0.state == "shown" }
            let log = stack.user.files.path(of: "log")
            try await eventually("the hook ran") {
                (try? String(contentsOfFile: log, encoding: .utf8)) == "\(TestStack.app) disk full\n"
            }
        }
    }
}
