// SPDX-License-Identifier: Apache-2.0

internal import PushINI
internal import PushNet

/// What may stand in `agent.ini`, section `[server]`, and in the environment.
package enum AgentSetting: String, CaseIterable, Sendable {
    case url
    case caFile = "ca_file"
    case enrolmentCode = "enrolment_code"
    case name
    case stream
    case proxy
    case clientCertificate = "client_cert"
    case clientKey = "client_key"

    /// The variable that wins over the file, for example `POSTHORN_AGENT_URL`.
    package var variable: String { "POSTHORN_AGENT_" + rawValue.uppercased() }

    /// For `--help`.
    package var help: String {
        switch self {
        case .url: "Server to enrol at, https://HOST:PORT, when this device is enrolled nowhere"
        case .caFile: "PEM file of the authorities to trust; the system's when absent"
        case .enrolmentCode: "Code to enrol with; not needed where the server allows open enrolment"
        case .name: "What administrators see; the host's name when absent"
        case .stream:
            "How notifications come: 'websocket', 'events' (server-sent events), or 'auto', which tries them in this order"
        case .proxy:
            "Proxy, as http://proxy.example.org:3128, or 'none'; what https_proxy and no_proxy say when absent"
        case .clientCertificate: "PEM file of a certificate, for a server that asks for one"
        case .clientKey: "PEM file of its key; when absent, the key is in the file of the certificate"
        }
    }
}

/// What is wrong with the configuration.
package struct AgentConfigurationError: Error, Equatable, Sendable {
    /// One line that says what is wrong and where.
    package var message: String
    /// One line that says what to do.
    package var remedy: String
}

/// How the agent enrols where nobody is there to do it.
package struct AgentConfiguration: Sendable, Equatable {
    /// The server to enrol at; nil to wait for a person.
    package var serverURL: String?
    /// Authorities to trust; empty for the system's.
    package var caFile = ""
    /// The code; empty for open enrolment.
    package var enrolmentCode = ""
    /// What administrators see.
    package var deviceName: String

    /// In which form the stream is asked for.
    package var streamForm = StreamForm.auto
    /// How the server is reached.
    package var access = ServerAccess()

    /// Reads the file, if there is one, and the environment, which wins.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - isRequired: Whether it must be there, because the person named it.
    ///   - environment: The process's variables.
    ///   - hostName: What the device is called without a name.
    /// - Throws: What is wrong with the file, and what to do.
    package init(
        path: String, isRequired: Bool, environment: [String: String], hostName: String
    ) throws(AgentConfigurationError) {
        var values: [AgentSetting: String] = [:]
        for entry in try Self.read(path, isRequired: isRequired) {
            guard entry.section == "server", let setting = AgentSetting(rawValue: entry.name) else {
                throw AgentConfigurationError(
                    message: "\(path):\(entry.line): unknown setting '\(entry.name)' in section [\(entry.section)]",
                    remedy: "Section [server] knows \(AgentSetting.allCases.map(\.rawValue).joined(separator: ", ")).")
            }
            values[setting] = entry.value
        }
        var sources: [AgentSetting: String] = [:]
        for setting in AgentSetting.allCases {
            guard let value = environment[setting.variable], !value.isEmpty else { continue }
            values[setting] = value
            sources[setting] = setting.variable
        }
        func place(_ setting: AgentSetting) -> String { sources[setting] ?? "\(setting.rawValue) in \(path)" }
        serverURL = values[.url].flatMap { $0.isEmpty ? nil : $0 }
        caFile = values[.caFile] ?? ""
        enrolmentCode = values[.enrolmentCode] ?? ""
        deviceName = values[.name].flatMap { $0.isEmpty ? nil : $0 } ?? hostName
        if let text = values[.stream], !text.isEmpty { streamForm = try Self.streamForm(text, place(.stream)) }
        func value(_ setting: AgentSetting) -> String? { values[setting].flatMap { $0.isEmpty ? nil : $0 } }
        access.proxy = value(.proxy)
        access.clientCertificateFile = value(.clientCertificate)
        access.clientKeyFile = value(.clientKey)
        try check(place)
    }

    /// Says where to set right what is wrong.
    private func check(_ place: (AgentSetting) -> String) throws(AgentConfigurationError) {
        if let serverURL, Agent.serverURL(serverURL) == nil {
            throw AgentConfigurationError(
                message: "'\(serverURL)' is no server",
                remedy: "Set \(place(.url)) to https://HOST:PORT, without a path.")
        }
        let files: [(AgentSetting, String?)] = [
            (.caFile, caFile), (.clientCertificate, access.clientCertificateFile), (.clientKey, access.clientKeyFile),
        ]
        for (setting, file) in files {
            guard let file, !file.isEmpty, file.utf8.first != UInt8(ascii: "/") else { continue }
            throw AgentConfigurationError(
                message: "\(setting.rawValue) '\(file)' is relative",
                remedy: "Set \(place(setting)) to an absolute path.")
        }
        if access.clientKeyFile != nil, access.clientCertificateFile == nil {
            throw AgentConfigurationError(
                message: "client_key is of no use without client_cert",
                remedy: "Set \(place(.clientCertificate)), too, or neither.")
        }
        // Not quoted: there may be a password in it.
        if let proxy = access.proxy, !ServerAccess.isProxy(proxy) {
            let schemes = ServerAccess.proxySchemes.map { "\($0)://" }.joined(separator: ", ")
            throw AgentConfigurationError(
                message: "proxy is no proxy's URL",
                remedy: "Set \(place(.proxy)) to HOST:PORT behind one of \(schemes), or to \(ServerAccess.noProxy).")
        }
    }

    private static func streamForm(_ text: String, _ place: String) throws(AgentConfigurationError) -> StreamForm {
        guard let form = StreamForm(rawValue: text) else {
            throw AgentConfigurationError(
                message: "'\(text)' is no form of the stream",
                remedy: "Set \(place) to \(StreamForm.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return form
    }

    private static func message(for error: INIError) -> String {
        switch error {
        case .cannotRead(let path, let code): "cannot read \(path): \(SystemError.text(code))"
        case .syntax(let path, let line): "\(path):\(line): this is neither [section] nor name = value"
        case .tooLong(let path, let line, let byteCountMax): "\(path):\(line): longer than \(byteCountMax) bytes"
        }
    }

    private static func read(_ path: String, isRequired: Bool) throws(AgentConfigurationError) -> [INIEntry] {
        do throws(INIError) {
            return try INIFile.read(path: path)
        } catch {
            // ENOENT
            if case .cannotRead(_, code: 2) = error, !isRequired { return [] }
            throw AgentConfigurationError(
                message: Self.message(for: error), remedy: "Correct the file, or name another with --config.")
        }
    }
}
