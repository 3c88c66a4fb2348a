// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension SecurityEndToEnd {
    /// Connects to a server as a proxy does that sends the address of its client.
    struct ProxyTests {
        /// Sends a request with a header of the PROXY protocol, in pieces, and prints the status.
        private static let script = #"""
            import socket, ssl, struct, sys, time
            port, authority, address = int(sys.argv[1]), sys.argv[2], sys.argv[3]
            plain = socket.create_connection(("127.0.0.1", port))
            plain.settimeout(20)
            def fail(error):
                print("closed", error)
                sys.exit(0)
            if address:
                head = b"\r\n\r\n\0\r\nQUIT\n" + bytes([0x21, 0x11]) + struct.pack(">H", 12)
                head += socket.inet_aton(address) + socket.inet_aton("127.0.0.1") + struct.pack(">HH", 4711, port)
                try:
                    for piece in (head[:5], head[5:18], head[18:]):
                        plain.sendall(piece)
                        time.sleep(0.05)
                except OSError as error:
                    fail(error)
            context = ssl.create_default_context(cafile=authority)
            try:
                with context.wrap_socket(plain, server_hostname="127.0.0.1") as secure:
                    secure.sendall(b"POST /v1/devices HTTP/1.1\r\nHost: a\r\nContent-Length: 38\r\n\r\n"
                                   b'{"name":"a","platform":"b","code":"c"}')
                    print(secure.recv(4096).split(b" ")[1].decode())
            except OSError as error:
                fail(error)
            """#

        private func request(_ server: InstalledServer, _ files: TemporaryDirectory, from address: String) async throws
            -> String
        {
            let script = try files.write(Self.script, to: "proxy.py")
            return try await RunningProcess.run(
                RepositoryPaths.python, [script, "\(server.port)", server.authorityFile, address]
            ).succeeded().output
        }

        @Test func `the server sees the address of the proxy's client, and refuses a connection without it`()
            async throws
        {
            let files = try TemporaryDirectory()
            let server = try await InstalledServer(options: ["--proxy-protocol-from", "127.0.0.0/8 ::1"])
            #expect(try await request(server, files, from: "192.0.2.77") == "403\n")
            let process = server.process.now
            try await eventually("the log has the address", evidence: { process.transcript }) {
                process.errorOutput.contains("event=enrolment_refused reason=BadEnrolmentCode source=192.0.2.77")
            }
            #expect(try await request(server, files, from: "").hasPrefix("closed"))
            #expect(process.errorOutput.contains("event=proxy_header_invalid source=127.0.0.1"))
        }

        @Test func `without the setting, such a header is not accepted`() async throws {
            let files = try TemporaryDirectory()
            let server = try await InstalledServer()
            #expect(try await request(server, files, from: "192.0.2.77").hasPrefix("closed"))
            #expect(try await request(server, files, from: "") == "403\n")
        }
    }
}
