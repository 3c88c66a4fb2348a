// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

/// A server that changes its authority, and users with one registered app each.
struct AuthorityFleet {
    static let app = "org.example.Mail"

    let server: InstalledServer
    let provider: APNsProvider
    let users: [DeviceUser]
    /// The device tokens of the users, in their order.
    let tokens: [String]
    private let buses: [DesktopBus]

    init(userCount: Int = 1, agentWrapper wrapper: [String] = []) async throws {
        server = try await InstalledServer()
        let target = try await server.addApp(Self.app, isKeyScoped: false)
        var (buses, users, tokens): ([DesktopBus], [DeviceUser], [String]) = ([], [], [])
        for _ in 0..<userCount {
            let bus = try await DesktopBus()
            let user = try await DeviceUser(busAddress: bus.address, wrapper: wrapper)
            try await user.enrol(with: server)
            tokens.append(try await user.register(Self.app, name: "Example Mail"))
            users.append(user)
            buses.append(bus)
        }
        (self.users, self.tokens, self.buses) = (users, tokens, buses)
        provider = try await APNsProvider(target)
    }

    var user: DeviceUser { users[0] }

    /// Returns the authorities that the server lists.
    func authorities() async throws -> Authorities {
        try await server.posthorn("authority", "list", "--json").decoded(Authorities.self)
    }

    /// Waits until a number of devices trusts an authority.
    func waitUntilTrusted(_ role: String, by count: Int) async throws {
        try await eventually("\(count) devices trust the authority", evidence: { user.agent.now.transcript }) {
            try await authorities().authorities.first { $0.role == role }?.devices == count
        }
    }

    /// Kills the server and starts it again.
    func restartServer(adding options: [String] = []) async throws {
        try await server.process.killNow()
        try await server.start(adding: options)
    }

    /// Sends a notification to each user, and checks that it arrives with the device tokens of the beginning.
    func expectDelivery(_ text: String) async throws {
        let sent = try await provider.send(
            tokens.map { SentNotification(token: $0, payload: #"{"aps":{"alert":"\#(text)"}}"#) })
        guard sent.allSatisfy({ $0.status == 200 }) else { throw RefusedMarker(result: sent[0]) }
        for user in users { try await user.waitForEntry("'\(text)' arrives") { $0.body == text } }
    }

    /// Checks that every user connects and keeps the device token of the beginning.
    func expectTokensKept() async throws {
        for (user, token) in zip(users, tokens) {
            try await user.waitUntilConnected()
            #expect(try await user.register(Self.app) == token)
        }
    }

    /// Checks that every accepted notification of a load is in the inbox of a user.
    func expectArrival(of load: LoadResult) async throws {
        #expect(!load.accepted.isEmpty)
        try await eventually("all arrive", within: .seconds(60)) { try await server.admin.status().counts.pending == 0 }
        var arrived: Set<String> = []
        for user in users { arrived.formUnion(try await user.wholeInbox().map(\.body)) }
        #expect(Set(load.accepted).subtracting(arrived).isEmpty, "of \(load.accepted.count), \(load.refused)")
    }

    /// Returns the status of a user's agent.
    static func status(of user: DeviceUser) async throws -> Status {
        try await user.posthorn("agent", "status", "--json").decoded(Status.self)
    }

    /// Waits until a user's agent reports a problem.
    static func wait(for problem: String, of user: DeviceUser) async throws {
        try await eventually("the problem is \(problem)", evidence: { user.agent.now.transcript }) {
            try await status(of: user).problem == problem
        }
    }

    struct Status: Decodable {
        let connected: Bool
        let problem: String
        let next_try: Int64
    }

    struct Authorities: Decodable {
        let devices: Int
        let cut_off: Int
        let authorities: [Authority]

        struct Authority: Decodable {
            let id: String
            let role: String
            let code: String?
            let serving: Bool
            let devices: Int
        }
    }
}

/// A private authority and a server certificate of it, made with openssl.
struct PrivateAuthority {
    private let files: TemporaryDirectory
    var authorityFile: String { files.path(of: "ca.pem") }
    /// The options with which the server uses the certificate.
    var options: [String] {
        ["--certificate-file", files.path(of: "server.pem"), "--private-key-file", files.path(of: "server.key")]
    }

    init() async throws {
        files = try TemporaryDirectory()
        let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        try await openssl(
            ["req", "-x509"] + curve + [
                "-subj", "/CN=Example private CA", "-addext", "basicConstraints=critical,CA:TRUE", "-days", "30",
                "-keyout", files.path(of: "ca.key"), "-out", authorityFile,
            ])
        try await openssl(
            ["req"] + curve + [
                "-subj", "/CN=push", "-keyout", files.path(of: "server.key"), "-out", files.path(of: "server.csr"),
            ])
        let names = try files.write("subjectAltName=IP:127.0.0.1,DNS:localhost\n", to: "names.cnf")
        try await openssl([
            "x509", "-req", "-in", files.path(of: "server.csr"), "-CA", authorityFile, "-CAkey",
            files.path(of: "ca.key"), "-CAcreateserial", "-extfile", names, "-days", "20", "-out",
            files.path(of: "leaf.pem"),
        ])
        // The authority is in the chain, as the certificates of many authorities come.
        try files.write(readText(files.path(of: "leaf.pem")) + readText(authorityFile), to: "server.pem")
    }

    private func openssl(_ arguments: [String]) async throws {
        try await RunningProcess.run("/usr/bin/openssl", arguments).succeeded()
    }
}
