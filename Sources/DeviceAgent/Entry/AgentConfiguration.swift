// SPDX-License-Identifier: Apache-2.0

internal import PushCore
internal import PushINI
internal import PushNet

/// A setting in section `[server]` of `agent.ini`, or in the environment.
enum AgentConfigurationKey: String, CaseIterable, Sendable {
    case url
    case caFile = "ca_file"
    case enrolmentCode = "enrolment_code"
    case name
    case stream
    case proxy
    case clientCertificate = "client_cert"
    case clientKey = "client_key"

    /// The environment variable that overrides the file, for example `POSTHORN_AGENT_URL`.
    var variable: String { "POSTHORN_AGENT_" + rawValue.uppercased() }

    /// The description in `--help`.
    var help: String {
        switch self {
        case .url: "The server to enrol with, https://HOST:PORT, if this device is not enrolled"
        case .caFile:
            "The CA certificates to trust (PEM). Default: the CA that the code identifies, or the system's CAs"
        case .enrolmentCode: "The enrolment code; not needed if the server allows open enrolment"
        case .name:
            "The device name that administrators see. Default: the user and the host name, such as anna@desk"
        case .stream:
            "The transport: 'websocket', 'events' (server-sent events), or 'auto', which tries both in this order"
        case .proxy:
            "The proxy, for example http://proxy.example.org:3128, or 'none'. Default: https_proxy and no_proxy"
        case .clientCertificate: "The client certificate (PEM), if the server requires one"
        case .clientKey: "The private key of client_cert (PEM). Default: the key in the file client_cert"
        }
    }
}

/// The reason why the configuration is invalid.
struct AgentConfigurationError: Error, Equatable, Sendable {
    /// One line that says what is wrong and where.
    var message: String
    /// One line that says what to do.
    var remedy: String
}

/// The settings for enrolment without a user, and for reaching the server.
struct AgentConfiguration: Sendable, Equatable {
    /// The server to enrol with; nil to wait for a user to enrol.
    var serverURL: String?
    /// The file of trusted authorities; empty for the system's.
    var caFile = ""
    /// The enrolment code; empty for open enrolment.
    var enrolmentCode = ""
    /// The device's name, which administrators see.
    var deviceName: String

    /// The transport of the notification stream.
    var streamForm = StreamForm.auto
    /// The proxy and the client certificate for the server.
    var access = ServerAccess()

    /// Reads the file, if it exists, and the environment, which overrides the file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - isRequired: Whether the file must exist, because the user named it.
    ///   - environment: The process's variables.
    ///   - defaultName: The device's default name.
    /// - Throws: An error that says what is wrong and what to do.
    init(
        path: String, isRequired: Bool, environment: [String: String], defaultName: String
    ) throws(AgentConfigurationError) {
        var values: [AgentConfigurationKey: String] = [:]
        for entry in try Self.read(path, isRequired: isRequired) {
            guard entry.section == "server", let setting = AgentConfigurationKey(rawValue: entry.name) else {
                let names = AgentConfigurationKey.allCases.map(\.rawValue)
                throw AgentConfigurationError(
                    message: "\(path):\(entry.line): unknown setting '\(entry.name)' in section [\(entry.section)]",
                    remedy: Spelling.closest(to: entry.name, among: names).map {
                        "Did you mean '\($0)' in section [server]?"
                    } ?? "Section [server] has these settings: \(names.joined(separator: ", ")).")
            }
            values[setting] = entry.value
        }
        var sources: [AgentConfigurationKey: String] = [:]
        for setting in AgentConfigurationKey.allCases {
            guard let value = environment[setting.variable], !value.isEmpty else { continue }
            values[setting] = value
            sources[setting] = setting.variable
        }
        func place(_ setting: AgentConfigurationKey) -> String { sources[setting] ?? "\(setting.rawValue) in \(path)" }
        serverURL = values[.url].flatMap { $0.isEmpty ? nil : $0 }
        caFile = values[.caFile] ?? ""
        enrolmentCode = values[.enrolmentCode] ?? ""
        deviceName = values[.name].flatMap { $0.isEmpty ? nil : $0 } ?? defaultName
        if let text = values[.stream], !text.isEmpty { streamForm = try Self.streamForm(text, place(.stream)) }
        func value(_ setting: AgentConfigurationKey) -> String? { values[setting].flatMap { $0.isEmpty ? nil : $0 } }
        access.proxy = value(.proxy)
        access.clientCertificateFile = value(.clientCertificate)
        access.clientKeyFile = value(.clientKey)
        try check(place)
    }

    /// Validates the values; errors name the variable or the line of the file to correct.
    private func check(_ place: (AgentConfigurationKey) -> String) throws(AgentConfigurationError) {
        if let serverURL, EnrolmentURL.normalized(serverURL) == nil {
            throw AgentConfigurationError(
                message: "invalid server URL '\(serverURL)'",
                remedy: "Set \(place(.url)) to https://HOST:PORT, without a path.")
        }
        let files: [(AgentConfigurationKey, String?)] = [
            (.caFile, caFile), (.clientCertificate, access.clientCertificateFile), (.clientKey, access.clientKeyFile),
        ]
        for (setting, file) in files {
            guard let file, !file.isEmpty, file.utf8.first != UInt8(ascii: "/") else { continue }
            throw AgentConfigurationError(
                message: "\(setting.rawValue): '\(file)' is not an absolute path",
                remedy: "Set \(place(setting)) to an absolute path.")
        }
        if access.clientKeyFile != nil, access.clientCertificateFile == nil {
            throw AgentConfigurationError(
                message: "client_key requires client_cert",
                remedy: "Set \(place(.clientCertificate)), or remove client_key.")
        }
        // The value is not quoted, because it may contain a password.
        if let proxy = access.proxy, !ServerAccess.isProxy(proxy) {
            let schemes = ServerAccess.proxySchemes.map { "\($0)://" }.joined(separator: ", ")
            throw AgentConfigurationError(
                message: "invalid proxy URL",
                remedy:
                    "Set \(place(.proxy)) to \(ServerAccess.noProxy), or to HOST:PORT after one of these: \(schemes).")
        }
    }

    private static func streamForm(_ text: String, _ place: String) throws(AgentConfigurationError) -> StreamForm {
        guard let form = StreamForm(rawValue: text) else {
            throw AgentConfigurationError(
                message: "invalid value '\(text)' for stream",
                remedy: "Set \(place) to one of these: \(StreamForm.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return form
    }

    private static func message(for error: INIError) -> String {
        switch error {
        case .cannotRead(let path, let code): "cannot read \(path): \(SystemError.text(code))"
        case .syntax(let path, let line): "\(path):\(line): syntax error: neither [section] nor name = value"
        case .tooLong(let path, let line, let byteCountMax):
            "\(path):\(line): the line is longer than \(byteCountMax) bytes"
        }
    }

    private static func read(_ path: String, isRequired: Bool) throws(AgentConfigurationError) -> [INIEntry] {
        do throws(INIError) {
            return try INIFile.read(path: path)
        } catch {
            // The code is ENOENT.
            if case .cannotRead(_, code: 2) = error, !isRequired { return [] }
            throw AgentConfigurationError(
                message: Self.message(for: error), remedy: "Correct the file, or specify another one with --config.")
        }
    }
}
