// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A real HTTP/1.1 server in Python on a free port that chooses its answer by the path.
final class ScriptedServer {
    let port: Int
    private let process = Process()
    private let output = Pipe()

    init(certificates: Certificates? = nil, unixSocket: String? = nil) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-u", "-c", Self.script, certificates?.chain ?? "", unixSocket ?? ""]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        guard let line = String(data: output.fileHandleForReading.availableData, encoding: .utf8),
            let port = Int(line.split(separator: "\n").first ?? "")
        else { throw TestFailure.noServer }
        self.port = port
    }

    deinit { kill() }

    /// Kills the process, as in a crash.
    func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Stops the process without closing anything, which looks like a dead network.
    func freeze() { Foundation.kill(process.processIdentifier, SIGSTOP) }

    private static let script = #"""
        import http.server, json, os, socket, ssl, sys, time

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                length = int(self.headers.get("content-length") or 0)
                body = self.rfile.read(length)
                if self.path == "/stream": return self.stream(10**6)
                if self.path == "/cut":
                    self.send_response(200)
                    self.send_header("content-length", "1000")
                    self.end_headers()
                    self.wfile.write(b"only this")
                    self.close_connection = True
                    return
                if self.path == "/slow": time.sleep(30)
                if self.path == "/garbage":
                    self.wfile.write(b"HTTP/1.1 nonsense\r\n\r\n")
                    self.close_connection = True
                    return
                facts = {"method": self.command, "path": self.path, "fields": dict(self.headers),
                         "body": body.decode(), "peer": str(self.client_address)}
                data = json.dumps(facts).encode()
                if self.path.startswith("/bytes/"): data = b"x" * int(self.path[7:])
                self.send_response(404 if self.path == "/missing" else 200)
                self.send_header("Content-Length", str(len(data)))
                self.send_header("X-Mixed-CASE", "  Value of it ")
                self.end_headers()
                if self.command != "HEAD": self.wfile.write(data)

            def stream(self, count):
                self.send_response(200)
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                for number in range(count):
                    self.wfile.write(b"5\r\n%05d\r\n" % number)
                    self.wfile.flush()
                    time.sleep(0.01)

            do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = answer
            def log_message(self, *arguments): pass

        class UnixServer(http.server.ThreadingHTTPServer):
            address_family = socket.AF_UNIX
            def server_bind(self):
                self.socket.bind(self.server_address)
                self.server_name, self.server_port = "unix", 0
            def get_request(self):
                connection, _ = self.socket.accept()
                return connection, ("unix", 0)

        if sys.argv[2]:
            server = UnixServer(sys.argv[2], Handler)
        else:
            server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if sys.argv[1]:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(sys.argv[1])
            server.socket = context.wrap_socket(server.socket, server_side=True)
        print(server.server_port, flush=True)
        server.serve_forever()
        """#
}
