// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ServerEndToEnd {
    /// Checks the end of a server, and changes while it serves.
    struct LifeCycleTests {
        @Test func `SIGTERM answers open requests before GOAWAY gives the reason, and exits with 0`() async throws {
            let server = try await EphemeralServer()
            let client = try await HTTP2Client(server.target)
            let request = ProviderRequest(
                token: server.topic.token, topic: server.topic.topic, providerToken: try await client.providerToken())
            let stream = try await client.open(request.allFields, body: #"{"aps":"#, ends: false)
            // An answer on another stream shows that the server knows the open one.
            #expect(try await client.send(request).status == 200)
            server.process.send(SIGTERM)
            try await eventually("nobody else gets in") { (try? await HTTP2Client(server.target)) == nil }
            try await client.finish(stream, body: "{}}")
            let response = try await client.response(stream)
            #expect(response.status == 200, "\(response)")
            let goaways = try await client.goaways()
            #expect(goaways.map(\.debug) == [#"{"reason":"Shutdown"}"#])
            #expect(goaways.allSatisfy { $0.code == 0 && $0.lastStream >= stream })
            #expect(try await server.process.waitForExit() == .code(0))
        }

        @Test func `a provider that keeps on sending is asked to stop while its open request is answered`() async throws
        {
            let server = try await EphemeralServer()
            let client = try await HTTP2Client(server.target)
            let request = ProviderRequest(
                token: server.topic.token, topic: server.topic.topic, providerToken: try await client.providerToken())
            let stream = try await client.open(request.allFields, body: #"{"aps":"#, ends: false)
            #expect(try await client.send(request).status == 200)
            server.process.send(SIGTERM)
            try await eventually("nobody else gets in") { (try? await HTTP2Client(server.target)) == nil }
            #expect(try await client.send(request).status == 200)
            let first = try #require(try await client.firstGoAway())
            #expect(first.code == 0 && first.lastStream >= stream && first.debug == #"{"reason":"Shutdown"}"#)
            try await client.finish(stream, body: "{}}")
            #expect(try await client.response(stream).status == 200)
            #expect(try await server.process.waitForExit() == .code(0))
        }

        @Test func `a request that never ends does not prevent the server from ending`() async throws {
            let server = try await EphemeralServer()
            let client = try await HTTP2Client(server.target)
            let request = ProviderRequest(
                token: server.topic.token, topic: server.topic.topic, providerToken: try await client.providerToken())
            _ = try await client.open(request.allFields, body: "{", ends: false)
            #expect(try await client.send(request).status == 200)
            server.process.send(SIGTERM)
            #expect(try await server.process.waitForExit() == .code(0))
        }

        @Test(.tags(.slow)) func `a request that never ends is answered, and others on its connection continue`()
            async throws
        {
            let server = try await EphemeralServer()
            let client = try await HTTP2Client(server.target)
            let request = ProviderRequest(
                token: server.topic.token, topic: server.topic.topic, providerToken: try await client.providerToken())
            // A device's stream stays open on the same connection.
            var device = request.by("GET").at("/v1/stream").sending(nil)
            device.fields = [["authorization", "bearer \(server.topic.deviceSecret)"]]
            _ = try await client.open(device.allFields, body: nil)
            let stream = try await client.open(request.allFields, body: "{", ends: false)
            let response = try await client.response(stream)
            #expect(response.status == 400 && response.data == [#"{"reason":"IdleTimeout"}"#], "\(response)")
            #expect(response.field("apns-id") == request.field("apns-id"))
            #expect(try await client.send(request).status == 200)
            let lone = try await HTTP2Client(server.target)
            let loneStream = try await lone.open(request.allFields, body: "{", ends: false)
            let goaways = try await lone.goaways()
            #expect(goaways.map(\.debug) == [#"{"reason":"IdleTimeout"}"#])
            #expect(try await lone.response(loneStream).data == [#"{"reason":"IdleTimeout"}"#])
        }

        @Test func `SIGHUP in the first milliseconds after the start does not end the server`() async throws {
            for _ in 0..<10 {
                let files = try TemporaryDirectory()
                let path = try files.write("[devices]\n", to: "posthornd.ini")
                let watch = inotify_init1(O_CLOEXEC)
                defer { close(watch) }
                #expect(unsafe inotify_add_watch(watch, path, UInt32(IN_OPEN)) >= 0)
                let process = try RunningProcess(
                    RepositoryPaths.program("posthornd"),
                    [
                        "--config", path, "--data-directory", files.path(of: "data"), "--listen", "127.0.0.1:0",
                        "--admin-socket", files.path(of: "admin.sock"),
                    ])
                var ready = pollfd(fd: watch, events: Int16(POLLIN), revents: 0)
                #expect(unsafe poll(&ready, 1, 30_000) == 1, "it opens its configuration")
                process.send(SIGHUP)
                try await eventually("it starts, and then reloads", evidence: { process.transcript }) {
                    process.exit != nil
                        || process.errorOutput.contains(#/(?s)event=listening .*event=configuration_reloaded/#)
                }
                #expect(process.exit == nil)
            }
        }

        @Test func `SIGHUP loads the new certificate, and open connections survive`() async throws {
            let files = try TemporaryDirectory()
            let certificate = files.path(of: "certificate.pem")
            let key = files.path(of: "key.pem")
            try await makeCertificate(certificate, key: key)
            let server = try await InstalledServer(
                options: ["--certificate-file", certificate, "--private-key-file", key])
            var target = try await server.addApp("org.example.Mail")
            target.caFile = certificate
            let old = try await HTTP2Client(target)
            try await makeCertificate(certificate, key: key)
            server.process.now.send(SIGHUP)
            try await eventually("a new connection gets the new certificate") {
                // While the server still uses the old certificate, the new file does not verify it.
                guard let new = try? await HTTP2Client(target) else { return false }
                return new.certificateSerial != old.certificateSerial
            }
            let request = ProviderRequest(
                token: String(repeating: "ab", count: 32), topic: target.topic,
                providerToken: try await old.providerToken())
            #expect(try await old.send(request).data == [#"{"reason":"BadDeviceToken"}"#])
        }

        @Test func `SIGHUP with an invalid certificate keeps the old one and reports the error`() async throws {
            let files = try TemporaryDirectory()
            let certificate = files.path(of: "certificate.pem")
            let key = files.path(of: "key.pem")
            try await makeCertificate(certificate, key: key)
            let server = try await InstalledServer(
                options: ["--certificate-file", certificate, "--private-key-file", key])
            var target = try await server.addApp("org.example.Mail")
            target.caFile = try files.write(readText(certificate), to: "trusted.pem")
            try files.write("not a certificate\n", to: "certificate.pem")
            server.process.now.send(SIGHUP)
            try await eventually("the log names the file", evidence: { server.process.now.transcript }) {
                server.process.now.errorOutput.contains(certificate)
            }
            #expect(try await HTTP2Client(target).certificateSerial.isEmpty == false)
        }

        @Test func `SIGHUP applies changed settings, and names those that need a restart`() async throws {
            let files = try TemporaryDirectory()
            let path = try files.write("[devices]\nopen_enrolment = no\n", to: "posthornd.ini")
            let server = try await InstalledServer(options: ["--config", path])
            let process = server.process.now
            let body = #"{"name":"probe","platform":"linux"}"#
            func enrolmentStatus() async throws -> String {
                try await RunningProcess.run(
                    try RepositoryPaths.tool("curl"),
                    [
                        "-sS", "--cacert", server.authorityFile, "-o", "/dev/null", "-w", "%{http_code}", "-d", body,
                        "\(server.url)/v1/devices",
                    ]
                ).succeeded().output
            }
            #expect(try await enrolmentStatus() == "403")

            try files.write("[server]\nloops = 7\n[devices]\nopen_enrolment = yes\n", to: "posthornd.ini")
            process.send(SIGHUP)
            try await eventually("it applies", evidence: { process.transcript }) {
                try await enrolmentStatus() == "201"
            }
            #expect(process.errorOutput.contains("event=configuration_reloaded changed=open_enrolment"))
            #expect(process.errorOutput.contains("event=restart_needed settings=loops"))

            try files.write("[devices]\nopen_enrolment = maybe\n", to: "posthornd.ini")
            process.send(SIGHUP)
            try await eventually("it is reported", evidence: { process.transcript }) {
                process.errorOutput.contains("event=configuration_not_reloaded")
            }
            #expect(process.errorOutput.contains("\(path):2: invalid value 'maybe'"))
            #expect(try await enrolmentStatus() == "201")
        }

        @Test func `SIGHUP loads a certificate from other files, and an expired one is reported`() async throws {
            let files = try TemporaryDirectory()
            func settings(_ name: String) -> String {
                "[server]\ncertificate_file = \(files.path(of: "\(name).pem"))\n"
                    + "private_key_file = \(files.path(of: "\(name).key"))\n"
            }
            for name in ["old", "new", "late"] {
                try await makeCertificate(files.path(of: "\(name).pem"), key: files.path(of: "\(name).key"))
            }
            try await expire(files.path(of: "late.pem"), key: files.path(of: "late.key"))
            let path = try files.write(settings("old"), to: "posthornd.ini")
            let server = try await InstalledServer(options: ["--config", path])
            let process = server.process.now
            #expect(process.errorOutput.contains("event=certificate_expires file=\(files.path(of: "old.pem"))"))
            var target = try await server.addApp("org.example.Mail")
            target.caFile = files.path(of: "new.pem")

            try files.write(settings("new"), to: "posthornd.ini")
            process.send(SIGHUP)
            try await eventually("the new certificate is used", evidence: { process.transcript }) {
                (try? await HTTP2Client(target)) != nil
            }
            let status = try await server.posthorn("status").output
            #expect(status.contains(#/Certificate +expires at .*, [12] days? left/#), "\(status)")

            try files.write(settings("late"), to: "posthornd.ini")
            let check = try await RunningProcess.run(
                RepositoryPaths.program("posthornd"), ["--config", path, "--check-config"])
            #expect(check.exit == .code(78))
            #expect(check.errorOutput.contains("late.pem expired at "))
            process.send(SIGHUP)
            try await eventually("the expiry is reported", evidence: { process.transcript }) {
                process.errorOutput.contains("event=certificate_expired file=\(files.path(of: "late.pem"))")
            }
            #expect(try await server.posthorn("status").output.contains(#/Certificate +expired at /#))
        }

        /// Replaces a self-signed certificate by one that expired a day ago.
        private func expire(_ certificate: String, key: String) async throws {
            try await RunningProcess.run(
                try RepositoryPaths.tool("openssl"),
                ["x509", "-in", certificate, "-signkey", key, "-days", "-1", "-out", certificate]
            ).succeeded()
        }

        /// Makes a self-signed certificate for 127.0.0.1.
        private func makeCertificate(_ certificate: String, key: String) async throws {
            try await RunningProcess.run(
                try RepositoryPaths.tool("openssl"),
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1", "-out", certificate, "-keyout", key,
                ]
            ).succeeded()
        }
    }
}
