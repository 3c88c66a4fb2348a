// SPDX-License-Identifier: Apache-2.0

/// An HTTP `CONNECT` proxy in Python that can stop forwarding without closing its connections.
package final class ScriptedProxy: Sendable {
    /// The URL `http://127.0.0.1:PORT`.
    package let url: String
    /// The address `127.0.0.1:PORT`.
    package let address: String
    private let process: ForkedScript
    private let files: TemporaryDirectory

    /// Starts the proxy.
    ///
    /// - Parameter user: The required credentials as `USER:PASSWORD`; nil for none.
    /// - Throws: The errors of starting Python.
    package init(user: String? = nil) async throws {
        files = try TemporaryDirectory()
        let script = try files.write(Self.script, to: "proxy.py")
        process = try await ForkedScript(script, [user ?? ""])
        address = "127.0.0.1:\(try await process.outputLine())"
        url = "http://\(address)"
    }

    /// The addresses that clients asked to connect to, in order.
    package var targets: [String] {
        process.output.split(separator: "\n").filter { $0.hasPrefix("CONNECT ") }
            .map { String($0.dropFirst("CONNECT ".count)) }
    }

    /// Stops forwarding on all current connections; new ones work.
    package func fallSilent() async throws {
        let count = silenceCount
        try process.write("\n")
        try await eventually("the proxy is silent") { silenceCount > count }
    }

    private var silenceCount: Int { process.output.split(separator: "\n").count { $0 == "silent" } }

    private static let script = #"""
        import base64, socket, sys, threading

        user = sys.argv[1] and "proxy-authorization: basic " + base64.b64encode(sys.argv[1].encode()).decode().lower()
        alive, silenced = set(), set()

        def pump(pair, source, target):
            try:
                while data := source.recv(65536):
                    if pair not in silenced: target.sendall(data)
            except OSError:
                pass
            if pair not in silenced:
                for end in (source, target):
                    try: end.shutdown(socket.SHUT_RDWR)
                    except OSError: pass

        def serve(client):
            head = b""
            while b"\r\n\r\n" not in head:
                data = client.recv(65536)
                if not data: return
                head += data
            lines = head.decode().split("\r\n")
            target = lines[0].split(" ")[1]
            print("CONNECT " + target, flush=True)
            if user and user not in [line.lower() for line in lines]:
                client.sendall(b"HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n")
                return client.close()
            host, port = target.rsplit(":", 1)
            try:
                server = socket.create_connection((host, int(port)))
            except OSError:
                client.sendall(b"HTTP/1.1 502 Nobody there\r\nContent-Length: 0\r\n\r\n")
                return client.close()
            client.sendall(b"HTTP/1.1 200 Go\r\n\r\n")
            pair = (client, server)
            alive.add(pair)
            threading.Thread(target=pump, args=(pair, client, server), daemon=True).start()
            pump(pair, server, client)

        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)

        def accept():
            while True:
                client, _ = listener.accept()
                threading.Thread(target=serve, args=(client,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        for line in sys.stdin:
            silenced |= alive
            print("silent", flush=True)
        """#
}
