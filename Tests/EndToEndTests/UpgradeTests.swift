// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ServerEndToEnd {
    /// Replaces the process of a server while clients connect, and starts it with sockets of a service manager.
    struct UpgradeTests {
        /// Opens a connection and sends a request without credentials, as often as it is told to.
        private func knock(_ url: String, _ authority: String) async throws -> ProgramResult {
            try await RunningProcess.run(
                try RepositoryPaths.tool("curl"),
                ["-sS", "--cacert", authority, "--max-time", "30", "-o", "/dev/null", "-w", "%{http_code}", url])
        }

        @Test func `no connection is refused while the program replaces its process, and nothing is lost`() async throws
        {
            let stack = try await TestStack()
            let process = stack.server.process.now
            func starts() -> Int { process.errorOutput.matches(of: /event=listening/).count }
            for number in 1...3 {
                let sent = try await stack.provider.send(stack.notification("before \(number)"))
                #expect(sent.status == 200)
                process.send(SIGUSR2)
                var knocks = 0
                while starts() <= number || knocks < 5 {
                    let result = try await knock("\(stack.server.url)/v1/stream", stack.server.authorityFile)
                    #expect(result.exit == .code(0), "\(result.errorOutput)")
                    knocks += 1
                    guard process.exit == nil else { break }
                }
                #expect(process.exit == nil, "the process has another ID:\n\(process.transcript)")
                try await eventually("it answers an administrator", evidence: { process.transcript }) {
                    (try? await stack.server.admin.status()) != nil
                }
            }
            for number in 1...3 {
                try await stack.user.waitForEntry("it arrived") { $0.body == "before \(number)" }
            }
            #expect(try await stack.user.inbox().count == 3)
        }

        /// Opens connections as fast as six threads can until its input ends, and prints each result once.
        private static let knocker = #"""
            import socket, ssl, sys, threading
            port, authority = int(sys.argv[1]), sys.argv[2]
            context = ssl.create_default_context(cafile=authority)
            results, ended = {}, threading.Event()
            def knock():
                try:
                    plain = socket.create_connection(("127.0.0.1", port), timeout=60)
                    with context.wrap_socket(plain, server_hostname="127.0.0.1") as secure:
                        secure.sendall(b"GET /v1/stream HTTP/1.1\r\nHost: a\r\n\r\n")
                        return secure.recv(4096).split(b"\r\n")[0].decode() or "no answer"
                except OSError as error:
                    return repr(error)
            def run():
                while not ended.is_set():
                    result = knock()
                    results[result] = True
            threads = [threading.Thread(target=run) for _ in range(6)]
            for thread in threads: thread.start()
            sys.stdin.read()
            ended.set()
            for thread in threads: thread.join()
            print("\n".join(results))
            """#

        @Test func `each connection gets an answer while the program replaces its process`() async throws {
            let server = try await InstalledServer()
            let process = server.process.now
            func starts() -> Int { process.errorOutput.matches(of: /event=listening/).count }
            let script = try server.files.write(Self.knocker, to: "knocker.py")
            let knocker = try RunningProcess(
                RepositoryPaths.python, [script, "\(server.port)", server.authorityFile], hasInput: true)
            for number in 1...5 {
                process.send(SIGUSR2)
                try await eventually("it listens again", evidence: { process.transcript }) { starts() > number }
            }
            knocker.endInput()
            #expect(try await knocker.waitForExit() == .code(0))
            #expect(knocker.output == "HTTP/1.1 401 Unauthorized\n")
        }

        /// A change of the program's file that makes it unusable, and the problem that the server logs.
        enum Damage: CaseIterable {
            case removed, noProgram, failing, hanging

            var problem: String {
                switch self {
                case .removed: "No such file or directory"
                case .noProgram: "Exec format error"
                case .failing: "cannot open shared object file"
                case .hanging: "did not end within"
                }
            }

            func apply(to path: String) async throws {
                try FileManager.default.removeItem(atPath: path)
                let text =
                    switch self {
                    case .removed: ""
                    case .noProgram: "\u{7F}ELF"
                    case .failing: "#!/bin/sh\necho 'libx.so: cannot open shared object file' >&2\nexit 127\n"
                    case .hanging: "#!/bin/sh\nsleep 1000\n"
                    }
                guard !text.isEmpty else { return }
                // Another process writes the file, as it makes the copy below.
                let writer = try await RunningProcess.run(
                    "/bin/sh", ["-c", #"printf '%s' "$1" >"$2"; chmod 755 "$2""#, "sh", text, path])
                #expect(writer.exit == .code(0), "\(writer.errorOutput)")
            }
        }

        @Test(arguments: Damage.allCases)
        func `the present program continues if the new one cannot start`(damage: Damage) async throws {
            let files = try TemporaryDirectory()
            let admin = AdminSocket(path: files.path(of: "admin.sock"))
            let program = files.path(of: "posthornd")
            // Another process makes the copy: a file that this one has open for writing could be inherited by the
            // process of a parallel test, and the kernel would then refuse to start it (ETXTBSY).
            let copy = try await RunningProcess.run("/bin/cp", [RepositoryPaths.program("posthornd"), program])
            #expect(copy.exit == .code(0), "\(copy.errorOutput)")
            let process = try RunningProcess(
                program,
                [
                    "--data-directory", files.path(of: "data"), "--listen", "127.0.0.1:0", "--admin-socket", admin.path,
                ])
            func starts() -> Int { process.errorOutput.components(separatedBy: "event=listening").count - 1 }
            try await eventually("it listens", evidence: { process.transcript }) { starts() == 1 }
            try await damage.apply(to: program)
            process.send(SIGUSR2)
            try await eventually("it reports the problem", evidence: { process.transcript }) {
                process.errorOutput.contains("event=replacement_failed")
            }
            #expect(process.errorOutput.contains(damage.problem), "\(process.transcript)")
            #expect(try await admin.status().counts.accepted == 0)
            #expect(starts() == 1)
        }

        @Test func `a configuration that the new program refuses does not end the server`() async throws {
            let files = try TemporaryDirectory()
            let path = try files.write("[devices]\nopen_enrolment = no\n", to: "posthornd.ini")
            let server = try await InstalledServer(options: ["--config", path])
            let process = server.process.now
            try files.write("[devices]\nopen_enrolment = maybe\n", to: "posthornd.ini")
            process.send(SIGUSR2)
            try await eventually("it reports the problem", evidence: { process.transcript }) {
                process.errorOutput.contains(#/event=replacement_failed problem=.*invalid value 'maybe'/#)
            }
            #expect(try await server.admin.status().counts.accepted == 0)
        }

        @Test func `only the listening sockets survive the replacement`() async throws {
            let files = try TemporaryDirectory()
            let admin = AdminSocket(path: files.path(of: "admin.sock"))
            let secret = try files.write("", to: "inherited")
            // The shell passes a descriptor that no part of the server marks as close-on-exec.
            let process = try RunningProcess(
                "/bin/sh",
                [
                    "-c", "exec 9<'\(secret)'; exec \"$0\" \"$@\"", RepositoryPaths.program("posthornd"),
                    "--data-directory", files.path(of: "data"), "--listen", "127.0.0.1:0", "--admin-socket",
                    admin.path, "--loops", "2",
                ])
            func inherited() -> Bool {
                let path = "/proc/\(process.identifier)/fd"
                let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
                let targets = names.map {
                    try? FileManager.default.destinationOfSymbolicLink(atPath: "\(path)/\($0)")
                }
                return targets.contains(secret)
            }
            func starts() -> Int { process.errorOutput.matches(of: /event=listening/).count }
            try await eventually("it listens", evidence: { process.transcript }) { starts() == 1 }
            #expect(inherited())
            process.send(SIGUSR2)
            try await eventually("it listens again", evidence: { process.transcript }) { starts() == 2 }
            #expect(!inherited())
            let urls = process.errorOutput.matches(of: /event=listening url=(\S+)/).map { String($0.1) }
            #expect(Set(urls).count == 1, "the port is the same: \(urls)")
        }

        @Test(arguments: [
            ["--listen", "127.0.0.1:"], ["--listen", "127.0.0.1:0", "--development-listen", "127.0.0.1:"],
        ])
        func `sockets of addresses that are not configured any more are closed before others are opened`(
            options: [String]
        ) async throws {
            let files = try TemporaryDirectory()
            let port = try FreePort.find()
            // The manager keeps the sockets open until the server asks it to close them.
            let manager = try RunningProcess(
                RepositoryPaths.python,
                [
                    "-c", Self.manager, files.path(of: "notify"), "\(port)", RepositoryPaths.program("posthornd"),
                    "--data-directory", files.path(of: "data"), "--admin-socket", files.path(of: "admin.sock"),
                ] + options.map { $0.hasSuffix(":") ? "\($0)\(port)" : $0 })
            try await eventually("it listens", evidence: { manager.transcript }) {
                manager.output.contains("READY=1")
            }
            #expect(manager.output.contains("FDSTOREREMOVE=1 FDNAME=former"))
            #expect(manager.output.contains("FDSTORE=1 FDNAME=127.0.0.1-\(port) "))
            manager.send(SIGTERM)
            try await eventually("it ends", evidence: { manager.transcript }) { manager.exit == .code(0) }
        }

        /// A service manager that passes a socket at `*`, prints each message, and closes its copy when it is told to.
        private static let manager = """
            import array, os, signal, socket, sys
            path, port, program = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
            messages = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            messages.bind(path)
            kept = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
            child = os.fork()
            if child == 0:
                os.dup2(kept.fileno(), 3)
                os.environ.update(NOTIFY_SOCKET=path, LISTEN_FDS="1", LISTEN_FDNAMES="former", LISTEN_PID=str(os.getpid()))
                os.execv(program[0], program)
            signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
            signal.signal(signal.SIGCHLD, lambda *_: os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
            while True:
                data, ancillary, _, _ = messages.recvmsg(4096, socket.CMSG_LEN(64 * 4))
                descriptors = [number for _, _, body in ancillary for number in array.array("i", body)]
                for number in descriptors: os.close(number)
                if data == b"FDSTOREREMOVE=1\\nFDNAME=former": kept.close()
                print(data.decode().replace("\\n", " "), len(descriptors), flush=True)
            """

        @Test func `a parent that ignores the ends of its children does not stop the replacement`() async throws {
            let files = try TemporaryDirectory()
            let process = try RunningProcess(
                "/usr/bin/env",
                [
                    "--ignore-signal=CHLD", RepositoryPaths.program("posthornd"), "--data-directory",
                    files.path(of: "data"), "--listen", "127.0.0.1:0", "--admin-socket", files.path(of: "admin.sock"),
                ])
            for count in 1...2 {
                try await eventually("it listens", evidence: { process.transcript }) {
                    process.errorOutput.matches(of: /event=listening/).count == count
                }
                if count == 1 { process.send(SIGUSR2) }
            }
        }

        @Test func `the server accepts from sockets that a service manager opened before`() async throws {
            let files = try TemporaryDirectory()
            let admin = AdminSocket(path: files.path(of: "admin.sock"))
            // The address is free until the first one of both processes opens it.
            let port = try FreePort.find()
            let process = try RunningProcess(
                try RepositoryPaths.tool("systemd-socket-activate"),
                [
                    "-l", "127.0.0.1:\(port)", RepositoryPaths.program("posthornd"), "--data-directory",
                    files.path(of: "data"), "--listen", "127.0.0.1:\(port)", "--admin-socket", admin.path, "--loops",
                    "3",
                ])
            try await eventually("it listens", evidence: { process.transcript }) {
                process.errorOutput.contains("Listening on 127.0.0.1:\(port)")
            }
            // The first connection starts the server, and waits until it accepts.
            let first = try await RunningProcess.run(
                try RepositoryPaths.tool("curl"),
                ["-sSk", "--max-time", "60", "-o", "/dev/null", "https://127.0.0.1:\(port)/"])
            #expect(first.exit == .code(0), "\(first.errorOutput)\n\(process.transcript)")
            #expect(process.errorOutput.contains("event=listening url=https://"))
            process.send(SIGTERM)
            try await eventually("it ends", evidence: { process.transcript }) { process.exit == .code(0) }
        }
    }
}
