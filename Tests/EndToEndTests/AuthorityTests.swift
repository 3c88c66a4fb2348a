// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceEndToEnd {
    /// Changes the authority of a server under enrolled devices.
    struct AuthorityTests {
        @Test(.tags(.slow)) func `a rotation keeps connected devices, their tokens and provider certificates`()
            async throws
        {
            let fleet = try await AuthorityFleet()
            let server = fleet.server
            let certificate = server.files.path(of: "provider.pem")
            try await server.posthorn("certificate", "issue", AuthorityFleet.app, "--output", certificate)
            let before = readText(server.authorityFile)
            try await server.posthorn("authority", "rotate")
            try await fleet.waitUntilTrusted("next", by: 1)
            #expect(readText(server.authorityFile) == before, "the first step changes nothing for connections")
            try await server.posthorn("authority", "rotate", "--complete", "--yes")
            #expect(readText(server.authorityFile) != before)
            #expect(try await AuthorityFleet.status(of: fleet.user).connected, "open connections stay open")
            #expect(try await fleet.authorities().cut_off == 0)
            try await fleet.restartServer()
            try await fleet.user.waitUntilConnected()
            try await fleet.user.agent.killNow()
            try await fleet.user.startAgent()
            try await fleet.user.waitUntilConnected()
            #expect(try await fleet.user.register(AuthorityFleet.app) == fleet.tokens[0])
            let answer = try await CurlAnswer(
                host: "127.0.0.1", port: server.port, caFile: server.authorityFile, token: fleet.tokens[0],
                options: ["--cert", certificate])
            #expect(answer.status == 200, "a provider's certificate of the previous authority: \(answer)")
            try await fleet.user.waitForEntry("it arrives") { _ in true }
        }

        @Test(.tags(.slow)) func `a rotation is not completed while a device would be cut off, unless it is forced`()
            async throws
        {
            let fleet = try await AuthorityFleet()
            try await fleet.user.agent.killNow()
            try await fleet.server.posthorn("authority", "rotate")
            let refused = try await RunningProcess.run(
                RepositoryPaths.program("posthorn"), ["authority", "rotate", "--complete", "--yes"],
                environment: ["POSTHORN_ADMIN_SOCKET": fleet.server.admin.path])
            #expect(refused.exit != .code(0))
            #expect(refused.errorOutput.contains("1 of 1 devices would be cut off"), "\(refused)")
            try await fleet.server.posthorn("authority", "rotate", "--complete", "--yes", "--force")
            #expect(try await fleet.authorities().cut_off == 1)
            #expect(try await fleet.server.posthorn("status").output.contains("Devices cut off"))
            try await fleet.restartServer()
            #expect(fleet.server.process.now.errorOutput.contains("event=devices_cut_off devices=1"))
        }

        @Test(.tags(.slow)) func `a device that was away says so, and trusts the authority by its code`() async throws {
            let fleet = try await AuthorityFleet()
            let user = fleet.user
            try await user.agent.killNow()
            let sent = try await fleet.provider.send(
                SentNotification(token: fleet.tokens[0], payload: #"{"aps":{"alert":"While away"}}"#))
            #expect(sent.status == 200)
            try await fleet.server.posthorn("authority", "rotate")
            try await fleet.server.posthorn("authority", "rotate", "--complete", "--yes", "--force")
            try await user.startAgent()
            try await AuthorityFleet.wait(for: "wrong-server", of: user)
            let status = try await AuthorityFleet.status(of: user)
            #expect(status.next_try > Int64(Date.now.timeIntervalSince1970) + 300, "it is not tried again soon")
            #expect(try await user.posthorn("agent", "status").output.contains("from a different CA than at enrolment"))
            let code = try #require(try await fleet.authorities().authorities.first { $0.serving }?.code)
            let presented = try await user.posthorn("agent", "trust").output
            #expect(presented.contains("Posthorn") && !presented.contains(code), "an impostor's would be copied")
            let wrong = try await user.run(["agent", "trust", "0000-1111-2222-3333-4444-5555"])
            #expect(wrong.exit != .code(0) && wrong.errorOutput.contains("nothing was changed"), "\(wrong)")
            #expect(!wrong.errorOutput.contains(code))
            #expect(try await !AuthorityFleet.status(of: user).connected)
            try await user.posthorn("agent", "trust", code)
            try await user.waitUntilConnected()
            #expect(try await user.register(AuthorityFleet.app) == fleet.tokens[0])
            try await user.waitForEntry("it was kept") { $0.body == "While away" }
            try await fleet.waitUntilTrusted("current", by: 1)
            #expect(try await fleet.authorities().cut_off == 0)
        }

        @Test(.tags(.slow)) func `a switch to a certificate of a private authority and back keeps the device`()
            async throws
        {
            let fleet = try await AuthorityFleet()
            let authority = try await PrivateAuthority()
            try await fleet.server.posthorn("authority", "announce", authority.authorityFile)
            try await fleet.waitUntilTrusted("file", by: 1)
            try await fleet.restartServer(adding: authority.options)
            try await fleet.user.waitUntilConnected()
            #expect(try await fleet.authorities().cut_off == 0)
            #expect(!fleet.server.process.now.errorOutput.contains("devices_cut_off"))
            #expect(try await fleet.user.register(AuthorityFleet.app) == fleet.tokens[0])
            try await fleet.restartServer()
            try await fleet.user.waitUntilConnected()
            try await fleet.expectDelivery("Back again")
            #expect(try await fleet.user.register(AuthorityFleet.app) == fleet.tokens[0])
        }

        @Test(.tags(.slow)) func `an unannounced switch is reported, and ca_file in agent_ini is a way back`()
            async throws
        {
            let fleet = try await AuthorityFleet()
            let authority = try await PrivateAuthority()
            try await fleet.restartServer(adding: authority.options)
            #expect(fleet.server.process.now.errorOutput.contains("event=devices_cut_off devices=1"))
            try await AuthorityFleet.wait(for: "wrong-server", of: fleet.user)
            try await fleet.user.agent.killNow()
            try fleet.user.files.makeDirectory("config/posthorn")
            try fleet.user.files.write(
                "[server]\nca_file = \(authority.authorityFile)\n", to: "config/posthorn/agent.ini")
            try await fleet.user.startAgent()
            try await fleet.user.waitUntilConnected()
            #expect(try await fleet.user.register(AuthorityFleet.app) == fleet.tokens[0])
        }

        @Test(.tags(.slow)) func `another server at the same address gets no request of the device`() async throws {
            let files = try TemporaryDirectory()
            let trace = files.path(of: "trace")
            let strace = [try RepositoryPaths.tool("strace"), "-D", "-f", "-qq", "-o", trace, "-e", "trace=openat"]
            let fleet = try await AuthorityFleet(agentWrapper: strace)
            let server = fleet.server
            let traced = readText(trace).count
            try await server.process.killNow()
            try FileManager.default.moveItem(
                atPath: server.files.path(of: "data"), toPath: server.files.path(of: "data-of-the-first"))
            try await server.start()
            try await AuthorityFleet.wait(for: "wrong-server", of: fleet.user)
            #expect(fleet.user.agent.now.errorOutput.contains("event=wrong_server"))
            let opened = readText(trace).dropFirst(traced)
            #expect(opened.contains("authority.pem"), "the trace works")
            #expect(!opened.contains("/etc/ssl/certs/"), "an authority of the system is not asked for")
            let code = try #require(try await fleet.authorities().authorities.first { $0.serving }?.code)
            let refused = try await fleet.user.run(["agent", "trust", code])
            #expect(refused.errorOutput.contains("removed from the server"), "\(refused)")
            let status = try await AuthorityFleet.status(of: fleet.user)
            #expect(status.problem == "wrong-server" && !status.connected, "nothing was trusted")
        }

        /// The number of agents; `make soak` rotates under 20, of which 3 are away.
        private static let (userCount, awayCount) = Patience.caseCount > 100 ? (20, 3) : (5, 1)

        @Test(.tags(.slow)) func `a rotation under load loses nothing and changes no device token`() async throws {
            let fleet = try await AuthorityFleet(userCount: Self.userCount)
            let away = fleet.users.prefix(Self.awayCount)
            let present = fleet.users.dropFirst(Self.awayCount)
            try await fleet.provider.startLoad(
                fleet.tokens.map { .init(token: $0, topic: AuthorityFleet.app) }, countPerAddress: 90)
            for user in away { try await user.agent.killNow() }
            try await fleet.server.posthorn("authority", "rotate")
            try await fleet.waitUntilTrusted("next", by: present.count)
            try await fleet.server.posthorn("authority", "rotate", "--complete", "--yes", "--force")
            #expect(try await fleet.authorities().cut_off == away.count)
            // Every connection is made again with the new authority, also those of agents that restart now.
            try await present.first?.agent.killNow()
            try await present.first?.startAgent()
            let load = try await fleet.provider.stopLoad()
            try await fleet.restartServer()
            let code = try #require(try await fleet.authorities().authorities.first { $0.serving }?.code)
            for user in away {
                try await user.startAgent()
                try await AuthorityFleet.wait(for: "wrong-server", of: user)
                try await user.posthorn("agent", "trust", code)
            }
            try await fleet.expectTokensKept()
            try await fleet.expectArrival(of: load)
            try await eventually("all confirm") { try await fleet.authorities().cut_off == 0 }
        }

        @Test(.tags(.slow)) func `a switch to a private authority and back under load loses nothing`() async throws {
            let fleet = try await AuthorityFleet(userCount: Self.userCount)
            let authority = try await PrivateAuthority()
            let away = fleet.users.prefix(Self.awayCount)
            try await fleet.provider.startLoad(
                fleet.tokens.map { .init(token: $0, topic: AuthorityFleet.app) }, countPerAddress: 90)
            for user in away { try await user.agent.killNow() }
            try await fleet.server.posthorn("authority", "announce", authority.authorityFile)
            try await fleet.waitUntilTrusted("file", by: fleet.users.count - away.count)
            let load = try await fleet.provider.stopLoad()
            try await fleet.restartServer(adding: authority.options)
            for user in away {
                try await user.startAgent()
                try await AuthorityFleet.wait(for: "wrong-server", of: user)
                try await user.posthorn("agent", "trust", "--ca-file", authority.authorityFile)
            }
            try await fleet.expectTokensKept()
            try await fleet.expectArrival(of: load)
            try await fleet.restartServer()
            try await fleet.expectTokensKept()
            try await fleet.expectDelivery("Back again")
        }
    }
}
