// SPDX-License-Identifier: Apache-2.0

import CommandLineKit
import Foundation
import PushCore
import PushNet
import PushStore
import TestSupport
import Testing

@testable import PushServer

@Suite struct ConfigurationTests {
    private static func load(
        _ text: String? = nil, flags: [(key: ConfigurationKey, value: String)] = [], environment: [String: String] = [:]
    ) throws -> ServerConfiguration {
        let directory = try TemporaryDirectory()
        let file = directory.path + "/posthornd.ini"
        if let text { try text.write(toFile: file, atomically: true, encoding: .utf8) }
        do throws(ConfigurationError) {
            return try ServerConfiguration(
                file: text == nil ? nil : file, flags: flags, environment: environment, isRoot: false,
                readsDefaultFile: false)
        } catch {
            var error = error
            error.place = error.place.replacingOccurrences(of: directory.path + "/", with: "")
            throw error
        }
    }

    @Test func `the default is port 2197 on every address`() throws {
        let configuration = try Self.load(environment: ["HOME": "/stack/ann"])
        #expect(configuration.host == "*")
        #expect(configuration.port == 2197)
        #expect(configuration.dataDirectory == "/stack/ann/.local/share/posthorn/server")
        #expect(configuration.adminSocket == "/stack/ann/.local/share/posthorn/server/admin.sock")
        #expect(!configuration.hasOpenEnrolment)
    }

    @Test func `flags override the environment, and the environment overrides the file`() throws {
        let file = "[server]\nlisten = 127.0.0.1:1\nlog_level = error\nloops = 3\n"
        let configuration = try Self.load(
            file, flags: [(.listen, "127.0.0.1:3")],
            environment: ["POSTHORN_LISTEN": "127.0.0.1:2", "POSTHORN_LOG_LEVEL": "warning"])
        #expect(configuration.port == 3)
        #expect(configuration.logLevel == .warning)
        #expect(configuration.loopCount == 3)
    }

    @Test(arguments: [
        ("*:443", "*", 443), ("[::1]:2197", "::1", 2197), ("push.example.org:0", "push.example.org", 0),
    ])
    func `an address with a port is parsed`(text: String, host: String, port: UInt16) throws {
        let configuration = try Self.load(flags: [(.listen, text)])
        #expect(configuration.host == host)
        #expect(configuration.port == port)
    }

    @Test func `the port for monitoring is off by default, and has one address that nothing else has`() throws {
        #expect(try Self.load().metricsListen == nil)
        let configuration = try Self.load("[server]\nmetrics_listen = [::1]:9464\n")
        #expect(configuration.metricsListen == ListenAddress(host: "::1", port: 9464))
        for text in ["9464", "*:9464 *:9465", "::1:9464", ":1"] {
            #expect(throws: ConfigurationError.self) { try Self.load(flags: [(.metricsListen, text)]) }
        }
        #expect(throws: ConfigurationError.self) {
            try Self.load(flags: [(.metricsListen, "*:2197"), (.listen, "*:2197")])
        }
    }

    @Test func `a setting may hold several addresses, and each setting has its role`() throws {
        let configuration = try Self.load(
            "[server]\nlisten = *:2197 [::1]:443\ndevelopment_listen = *:2198\nchannel_listen = *:2196\n"
                + "development_channel_listen = *:2195\n")
        #expect(configuration.ports.map(\.address.port) == [2197, 443, 2198, 2196, 2195])
        #expect(
            configuration.ports.map(\.role) == [
                PortRole(), PortRole(), PortRole(environment: .development), PortRole(isForChannels: true),
                PortRole(environment: .development, isForChannels: true),
            ])
    }

    @Test(arguments: [
        ("push.example.org *.example.org xn--bcher-kva.example", true), ("192.0.2.1 ::1 localhost", true),
        ("push.example.org:443", false), ("https://push.example.org", false), ("-a.example.org", false),
        ("a..example.org", false), ("*", false), ("bücher.example", false), ("[::1]", false), ("a,b", false),
    ])
    func `server names are valid names for a certificate`(text: String, isGood: Bool) throws {
        if isGood {
            #expect(try Self.load(flags: [(.names, text)]).names.count == text.split(separator: " ").count)
        } else {
            #expect(throws: ConfigurationError.self) { try Self.load(flags: [(.names, text)]) }
        }
    }

    @Test func `the limit per app may not exceed the limit per device`() throws {
        #expect(throws: ConfigurationError.self) { try Self.load(flags: [(.pendingPerDevice, "99")]) }
        #expect(try Self.load(flags: [(.pendingPerDevice, "100")]).pendingPerDeviceCountMax == 100)
        #expect(try Self.load(flags: [(.pendingPerTopic, "2000")]).pendingPerDeviceCountMax == nil)
        let both = [(key: ConfigurationKey.pendingPerTopic, value: "2000"), (key: .pendingPerDevice, value: "1999")]
        #expect(throws: ConfigurationError.self) { try Self.load(flags: both) }
    }

    @Test(arguments: [(16, 32, true), (16, 33, false), (128, 256, true), (127, 256, false)])
    func `the memory budget must be enough for the handshakes of all loops`(budget: Int, loops: Int, fits: Bool) throws
    {
        let flags = [
            (key: ConfigurationKey.memoryBudgetMegabytes, value: "\(budget)"), (key: .loops, value: "\(loops)"),
        ]
        guard !fits else { return _ = try Self.load(flags: flags) }
        let error = #expect(throws: ConfigurationError.self) { try Self.load(flags: flags) }
        #expect(error?.place == "memory_budget_megabytes")
    }

    @Test func `a duplicate address is refused`() {
        #expect(throws: ConfigurationError.self) {
            try Self.load(flags: [(.listen, "*:2197"), (.developmentListen, "*:2197")])
        }
        #expect(throws: ConfigurationError.self) { try Self.load(flags: [(.listen, "*:2197 *:2197")]) }
        #expect(throws: Never.self) { try Self.load(flags: [(.listen, "127.0.0.1:0 127.0.0.1:0")]) }
    }

    @Test(
        arguments: [
            (nil, Environment.production), ("api.push.apple.com", .production), ("push.example.org", .production),
            ("api.sandbox.push.apple.com", .development), ("api.development.push.apple.com", .development),
            ("api-manage-broadcast.sandbox.push.apple.com", .development), ("sandbox", .development),
            ("sandboxes.example.org", .production), ("test.example.org", .development),
            ("x.test.example.org", .production),
        ] as [(String?, Environment)])
    func `the server name selects the environment`(name: String?, environment: Environment) throws {
        let configuration = try Self.load(flags: [(.developmentNames, "other.example.org Test.Example.org")])
        #expect(configuration.environment(ofServerName: name) == environment)
    }

    @Test(
        arguments: [
            (.providerTokenUpdates, "0"), (.providerTokenUpdates, "x"), (.streamsBeforeAuthentication, "0"),
            (.streamsBeforeAuthentication, "1001"), (.tokenLifeDays, "-1"), (.channelsOnProviderPorts, "perhaps"),
            (.developmentListen, "2197"),
        ] as [(ConfigurationKey, String)])
    func `a value out of range is refused`(key: ConfigurationKey, text: String) {
        #expect(throws: ConfigurationError.self) { try Self.load(flags: [(key, text)]) }
    }

    @Test func `device tokens without a lifetime never expire`() throws {
        #expect(try Self.load(flags: [(.tokenLifeDays, "0")]).tokenLifeSeconds == nil)
        #expect(try Self.load(flags: [(.tokenLifeDays, "2")]).tokenLifeSeconds == 172_800)
        #expect(try Self.load().tokenLifeSeconds == 31_536_000)
    }

    @Test func `a rate may have a burst, and teams, keys and apps have no rate by default`() throws {
        let configuration = try Self.load("[quotas]\nteam_rate = 5/50\ntopic_rate = 7\nkey_daily = 100\n")
        #expect(configuration.quotas.team == QuotaLimits(rate: 5, burst: 50))
        #expect(configuration.quotas.topic == QuotaLimits(rate: 7))
        #expect(configuration.quotas.key == QuotaLimits(daily: 100))
        #expect(configuration.quotas.deviceRate == 100 && configuration.quotas.deviceBurst == 1000)
        let none = try Self.load(flags: [(.deviceRate, "0"), (.teamBadTokens, "9")]).quotas
        #expect(none.deviceRate == 0 && none.deviceBurst == nil && none.team == QuotaLimits(badTokens: 9))
        #expect(try Self.load().quotas.team.isEmpty && Self.load().quotas.defaultBadTokensPerTeam == 100_000)
        #expect(none.defaultBadTokensPerTeam == nil)
    }

    @Test func `strangers and devices have rates unless they are set to 0`() throws {
        #expect(try Self.load().principalLimits == PrincipalLimits())
        let limits = try Self.load(flags: [(.strangerCredentials, "3"), (.deviceStreams, "0"), (.deviceAcks, "5/6")])
            .principalLimits
        #expect(limits.strangerCredentials == .init(3) && limits.deviceStreams == .init(0))
        #expect(limits.deviceAcknowledgements == .init(5, burst: 6))
        #expect(limits.deviceRequests == .init(100, burst: 5000))
    }

    @Test(arguments: ["", "x", "-1", "1/", "/1", "1/0", "1/2/3", "1 2", "1000001", "1/1000001", "0.5"])
    func `an invalid rate is refused`(text: String) {
        #expect(throws: ConfigurationError.self) { try Self.load(flags: [(.teamRate, text)]) }
    }

    @Test(arguments: ["", "2197", ":2197", "::1:2197", "host:", "host:65536", "host:-1", "host:x"])
    func `an invalid address or port is refused`(text: String) {
        #expect(throws: ConfigurationError.self) { try Self.load(flags: [(.listen, text)]) }
    }

    @Test(arguments: [
        ("[server]\nlisten = *:443\nports = 1\n", "posthornd.ini:3", "ports"),
        ("[devices]\n\nopen_enrolment = perhaps\n", "posthornd.ini:3", "perhaps"),
        ("[server]\nloops = 0\n", "posthornd.ini:2", "0"),
        ("[server]\nopen_enrolment = yes\n", "posthornd.ini:2", "[server]"),
        ("[server]\nthis is nothing\n", "posthornd.ini:2", "neither"),
        ("[server]\ndata_directory = relative\n", "posthornd.ini:2", "relative"),
    ])
    func `an invalid line is reported with file, line and remedy`(text: String, place: String, problem: String) {
        #expect {
            try Self.load(text)
        } throws: { error in
            guard let error = error as? ConfigurationError else { return false }
            return error.place == place && error.problem.contains(problem) && error.remedy.hasSuffix(".")
        }
    }

    @Test(arguments: [
        ("[server]\nlistn = *:443\n", "Did you mean 'listen' in section [server]?"),
        ("[server]\ntrace_day = 1\n", "Did you mean 'trace_days' in section [trace]?"),
        ("[store]\nspeed = 1\n", "Remove the line, or use one of: durability, url, accept_patience."),
        ("[nothing]\nspeed = 1\n", "Remove the line."), ("speed = 1\n", "Remove the line."),
    ])
    func `an unknown setting is answered with the closest one, or with those of its section`(
        text: String, remedy: String
    ) {
        #expect {
            try Self.load(text)
        } throws: { error in
            (error as? ConfigurationError)?.remedy == remedy
        }
    }

    @Test func `all invalid settings are reported at once`() {
        #expect {
            try Self.load(
                "[server]\nlistn = *:443\nloops = many\n[store]\ndurability = full\n", flags: [(.names, "a b!")],
                environment: ["POSTHORN_TRACE": "perhaps"])
        } throws: { error in
            guard let error = error as? ConfigurationError else { return false }
            let places = [error.place] + error.others.map { String($0.place.split(separator: "/").last ?? "") }
            let lines = error.description.split(separator: "\n")
            return places == ["posthornd.ini:2", "posthornd.ini:3", "$POSTHORN_TRACE", "--names"] && lines.count == 8
        }
    }

    @Test func `with PostgreSQL, no durability below full is accepted`() throws {
        let url = (key: ConfigurationKey.storeURL, value: "postgresql://localhost/posthorn")
        #expect(try Self.load(flags: [url, (.durability, "full")]).durability == .full)
        #expect(throws: ConfigurationError.self) { try Self.load(flags: [url, (.durability, "normal")]) }
        #expect(try Self.load(flags: [(.durability, "normal")]).durability == .normal)
    }

    @Test func `a certificate without its key is refused`() {
        #expect(throws: ConfigurationError.self) { try Self.load(flags: [(.certificateFile, "/a.pem")]) }
        #expect(throws: ConfigurationError.self) { try Self.load(flags: [(.privateKeyFile, "/a.key")]) }
    }

    @Test(arguments: [(94, true), (95, false)])
    func `an admin socket path that is too long for a UNIX socket is refused`(length: Int, fits: Bool) throws {
        let directory = "/" + String(repeating: "d", count: length)
        // The path may have 107 bytes, including a slash and the file name's eleven bytes.
        if fits {
            #expect(try Self.load(flags: [(.dataDirectory, directory)]).adminSocket.utf8.count <= 107)
        } else {
            #expect(try Self.load(flags: [(.dataDirectory, directory)]).adminSocket.utf8.count == 107)
            #expect(throws: ConfigurationError.self) { try Self.load(flags: [(.dataDirectory, directory + "d")]) }
        }
    }

    @Test func `every setting has a flag, a variable and an entry in the sample file`() throws {
        for key in ConfigurationKey.allCases {
            #expect(ServerCommand.command.options.find(key.flag) != nil)
            #expect(key.variable.hasPrefix("POSTHORN_"))
        }
    }
}
