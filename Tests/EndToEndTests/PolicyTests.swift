// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceEndToEnd {
    /// Checks that an administrator's policy reaches a device and is enforced there.
    struct PolicyTests {
        /// Returns a row of `posthorn settings show`, split into words.
        private func setting(_ name: String, of user: DeviceUser) async throws -> [Substring] {
            let text = try await user.posthorn("settings", "show", TestStack.app).output
            let rows = text.split(separator: "\n").map { $0.split(separator: " ") }
            return rows.first { $0.first == name[...] } ?? []
        }

        private func isSilentByPolicy(_ user: DeviceUser) async throws -> Bool {
            let text = try await user.posthorn("settings", "list").output
            return text.split(separator: "\n").contains { line in
                line.contains("silent") && line.contains(" on ") && line.contains("set by the administrator")
            }
        }

        @Test func `a locked value cannot be changed on the device, and unlocking restores the user's choice`()
            async throws
        {
            let stack = try await TestStack()
            try await stack.user.posthorn("settings", "set", TestStack.app, "alert", "alert")
            try await stack.server.posthorn("policy", "set", "--topic", TestStack.app, "alert", "none", "--lock")
            try await eventually("the device follows", evidence: { stack.user.agent.now.transcript }) {
                try await setting("alert", of: stack.user).starts(with: ["alert", "none", "set"])
            }
            let refused = try await stack.user.run(["settings", "set", TestStack.app, "alert", "banner"])
            #expect(refused.exit != .code(0) && refused.errorOutput.contains("administrator"), "\(refused)")
            try await stack.server.posthorn("policy", "set", "--topic", TestStack.app, "alert", "banner")
            try await eventually("a default leaves the choice to the person") {
                try await setting("alert", of: stack.user) == ["alert", "alert"]
            }
            try await stack.user.posthorn("settings", "set", TestStack.app, "alert", "default")
            #expect(
                try await setting("alert", of: stack.user) == ["alert", "banner", "the", "administrator's", "default"])
            try await stack.server.posthorn("policy", "remove", "--topic", TestStack.app, "alert")
            #expect(try await stack.server.posthorn("policy", "list").output.contains("No policies."))
        }

        @Test func `a device that was away gets the policy on its return, and keeps it without the server`()
            async throws
        {
            let stack = try await TestStack()
            try await stack.user.agent.killNow()
            try await stack.server.posthorn("policy", "set", "silent", "on", "--lock")
            try await stack.user.startAgent()
            try await eventually("it is silent", evidence: { stack.user.agent.now.transcript }) {
                try await isSilentByPolicy(stack.user)
            }
            try await stack.server.process.killNow()
            try await stack.user.agent.killNow()
            try await stack.user.startAgent()
            #expect(try await isSilentByPolicy(stack.user))
        }

        @Test func `an invalid topic or value is answered with a remedy`() async throws {
            let server = try await InstalledServer()
            let topic = try await slip(server, "policy", "set", "--topic", "org.example.None", "sound", "off")
            #expect(topic.contains("no app with topic 'org.example.None'"), "\(topic)")
            let value = try await slip(server, "policy", "set", "schedule", "every night")
            #expect(value.contains("mon-fri 22:00-07:00"), "\(value)")
        }

        private func slip(_ server: InstalledServer, _ arguments: String...) async throws -> String {
            let result = try await RunningProcess.run(
                RepositoryPaths.program("posthorn"), arguments,
                environment: ["POSTHORN_ADMIN_SOCKET": server.admin.path])
            #expect(result.exit != .code(0))
            return result.errorOutput
        }
    }
}
