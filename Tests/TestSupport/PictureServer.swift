// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// An https server in Python with pictures, redirects, answers that no picture should have, and addresses for buttons.
package final class PictureServer: Sendable {
    /// The host and port.
    package let host: String
    /// The PEM file of the only authority that signed its certificate.
    package let caFile: String
    private let process: ForkedScript
    private let files: TemporaryDirectory

    /// Starts the server, and waits until it listens.
    package init() async throws {
        files = try TemporaryDirectory()
        let script = try files.write(Self.script, to: "pictures.py")
        process = try await ForkedScript(script, [files.path])
        host = "localhost:\(try await process.outputLine())"
        caFile = files.path(of: "cert.pem")
    }

    /// Returns the address of a path.
    package func url(_ path: String) -> String { "https://\(host)/\(path)" }

    /// The requests so far: the path, and whether a cookie or credentials came with it.
    package var requests: [String] { process.output.split(separator: "\n").dropFirst().map(String.init) }

    private static let script = #"""
        import http.server, ssl, struct, subprocess, sys, threading, time, zlib

        folder = sys.argv[1]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", folder + "/key.pem", "-out", folder + "/cert.pem", "-subj", "/CN=localhost", "-days", "2",
            "-addext", "subjectAltName=DNS:localhost"], check=True, stderr=subprocess.DEVNULL)

        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        def png(width, height):
            rows = zlib.compressobj()
            data = b"".join(rows.compress(b"\0" + b"\x11\xaa\x33" * width) for _ in range(height)) + rows.flush()
            return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) \
                + chunk(b"IDAT", data) + chunk(b"IEND", b"")

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def give(self, status, body=b"", **fields):
                self.send_response(status)
                for name, value in fields.items(): self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                secrets = [name for name in ("cookie", "authorization") if self.headers.get(name)]
                sys.stdout.write(" ".join([self.path] + secrets) + "\n")
                sys.stdout.flush()
                here = f"https://localhost:{port}"
                name = self.path[1:]
                if name == "photo": self.give(200, png(40, 20), **{"Set-Cookie": "a=b; Path=/"})
                elif name == "wide": self.give(200, png(4096, 16))
                elif name == "max": self.give(200, b"\x89PNG\r\n\x1a\n" + b"x" * (5 * 1024 * 1024 - 8))
                elif name == "big": self.give(200, b"\x89PNG\r\n\x1a\n" + b"x" * (5 * 1024 * 1024 - 7))
                elif name == "page": self.give(200, b"<html>")
                elif name == "slow": threading.Event().wait(600)
                elif name == "drip":
                    self.send_response(200)
                    self.send_header("Content-Length", "12000")
                    self.end_headers()
                    for _ in range(12000):
                        self.wfile.write(b"x")
                        time.sleep(0.05)
                elif name.startswith("wait"):
                    time.sleep(0.4)
                    self.give(302, Location="/photo" if name == "wait1" else "/wait" + str(int(name[4:]) - 1))
                elif name == "to-photo": self.give(302, Location="/photo")
                elif name == "to-here": self.give(307, Location=here + "/photo")
                elif name == "to-other": self.give(302, Location=f"https://127.0.0.1:{port}/photo")
                elif name == "to-http": self.give(302, Location=f"http://localhost:{port}/photo")
                elif name == "to-file": self.give(302, Location="file:///etc/passwd")
                elif name == "to-user": self.give(302, Location=f"https://a@localhost:{port}/photo")
                elif name == "loop": self.give(301, Location="/loop")
                elif name.startswith("hop"): self.give(308, Location="/photo" if name == "hop1" else "/hop" + str(int(name[3:]) - 1))
                else: self.give(404, b"\x89PNG\r\n\x1a\n")

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
                sys.stdout.write(" ".join([self.command, self.path, self.headers.get("x-key", "-"), body]) + "\n")
                sys.stdout.flush()
                if self.path == "/moved": self.give(302, Location="/pressed")
                elif self.path == "/pressed": self.give(200, b"done")
                else: self.give(404)

            do_PUT = do_POST

            def log_message(self, *_): pass

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder + "/cert.pem", folder + "/key.pem")

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            def handle_error(self, *_): pass

        server = Server(("127.0.0.1", 0), Handler)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        port = server.server_address[1]
        print(port, flush=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.stdin.read()
        """#
}
