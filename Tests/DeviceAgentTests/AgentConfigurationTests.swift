// SPDX-License-Identifier: Apache-2.0

@testable import DeviceAgent
import TestSupport
import Testing

@Suite struct AgentConfigurationTests {
    private func load(
        _ text: String?, environment: [String: String] = [:], isRequired: Bool = true
    ) throws -> AgentConfiguration {
        let directory = try TemporaryDirectory()
        if let text { try directory.write(text, to: "agent.ini") }
        return try AgentConfiguration(
            path: directory.path(of: "agent.ini"), isRequired: isRequired, environment: environment,
            defaultName: "anna@host")
    }

    @Test func `the file holds all settings of an enrolment`() throws {
        let configuration = try load(
            "[server]\nurl = https://a:1\nca_file = /ca.pem\nenrolment_code = C\nname = kiosk 7\n")
        #expect(configuration.serverURL == "https://a:1")
        #expect(configuration.caFile == "/ca.pem")
        #expect(configuration.enrolmentCode == "C")
        #expect(configuration.deviceName == "kiosk 7")
    }

    @Test func `a variable overrides the file unless it is empty`() throws {
        let configuration = try load(
            "[server]\nurl = https://a\nname = file\n",
            environment: ["POSTHORN_AGENT_URL": "https://b", "POSTHORN_AGENT_NAME": "", "POSTHORN_AGENT_CA_FILE": "/x"])
        #expect(configuration.serverURL == "https://b")
        #expect(configuration.deviceName == "file")
        #expect(configuration.caFile == "/x")
    }

    @Test func `without a file the user enrols, and the device has the default name`() throws {
        let configuration = try load(nil, isRequired: false)
        #expect(configuration.serverURL == nil)
        #expect(configuration.deviceName == "anna@host")
    }

    @Test(arguments: [("", StreamForm.auto), ("stream = events\n", .events), ("stream = websocket\n", .websocket)])
    func `the form of the stream is one of the known words`(line: String, form: StreamForm) throws {
        #expect(try load("[server]\n" + line).streamForm == form)
    }

    @Test(arguments: ["none", "http://proxy:3128", "https://user:secret@proxy", "socks5h://[::1]:1080"])
    func `the server is reached through a proxy, with a client certificate`(proxy: String) throws {
        let configuration = try load("[server]\nproxy = \(proxy)\nclient_cert = /c.pem\nclient_key = /k.pem\n")
        #expect(configuration.access.proxy == proxy)
        #expect(configuration.access.clientCertificateFile == "/c.pem")
        #expect(configuration.access.clientKeyFile == "/k.pem")
        #expect(try load("[server]\nproxy =\n").access == ServerAccess())
    }

    @Test(arguments: [
        (nil, "cannot read"), ("[server]\nurll = x\n", "unknown setting 'urll'"), ("[other]\nurl = x\n", "[other]"),
        ("[server]\nurl = http://a\n", "invalid server URL"), ("[server]\nca_file = ca.pem\n", "absolute"),
        ("[server]\nstream = sse\n", "invalid value 'sse' for stream"),
        ("[server]\nnonsense\n", ":2: "), ("[server]\nproxy = proxy:3128\n", "invalid proxy URL"),
        ("[server]\nproxy = ftp://proxy:3128\n", "invalid proxy URL"),
        ("[server]\nproxy = http://\n", "invalid proxy URL"),
        ("[server]\nclient_cert = a.pem\n", "client_cert: 'a.pem' is not an absolute path"),
        ("[server]\nclient_cert = /a\nclient_key = b.pem\n", "client_key: 'b.pem' is not an absolute path"),
        ("[server]\nclient_key = /b.pem\n", "requires client_cert"),
    ])
    func `an invalid line of the file is reported with its place`(text: String?, message: String) throws {
        let error = #expect(throws: AgentConfigurationError.self) { try load(text) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(error?.remedy.isEmpty == false)
    }

    @Test(arguments: [
        ("[server]\nurll = x\n", "Did you mean 'url' in section [server]?"),
        ("[agent]\nca_file = /a\n", "Did you mean 'ca_file' in section [server]?"),
        ("[server]\nvolume = 3\n", "Section [server] has these settings: url, ca_file,"),
    ])
    func `an unknown setting is answered with the closest one, or with all`(text: String, remedy: String) throws {
        let error = #expect(throws: AgentConfigurationError.self) { try load(text) }
        #expect(error?.remedy.hasPrefix(remedy) == true, "\(error?.remedy ?? "")")
    }

    @Test(arguments: [
        ("URL", "http://a"), ("CA_FILE", "ca.pem"), ("STREAM", "sse"), ("PROXY", "proxy:3128"),
        ("CLIENT_CERT", "a.pem"),
    ])
    func `an invalid variable is reported with its name`(name: String, value: String) throws {
        let environment = ["POSTHORN_AGENT_\(name)": value]
        let error = #expect(throws: AgentConfigurationError.self) {
            try load("[server]\nurl = https://a\n", environment: environment)
        }
        #expect(error?.remedy.hasPrefix("Set POSTHORN_AGENT_\(name) to ") == true, "\(error?.remedy ?? "")")
    }
}
