// SPDX-License-Identifier: Apache-2.0

internal import CPQ
internal import Glibc

/// A checked address of a PostgreSQL cluster, `postgresql://USER@HOST,HOST/DATABASE?PARAMETER=VALUE`.
///
/// The address may contain a password, which `description` omits.
package struct PostgresAddress: Sendable, Equatable {
    /// A connection parameter of libpq.
    struct Parameter: Sendable, Equatable {
        let keyword: String
        let value: String

        init(_ keyword: String, _ value: String) {
            self.keyword = keyword
            self.value = value
        }
    }

    /// One of the servers that the address names.
    struct Host: Sendable, Equatable {
        /// The name, the IP address, or the directory of the UNIX socket.
        let name: String
        let port: String?

        /// Whether the server is on this machine: a UNIX socket or a loopback address.
        var isLocal: Bool {
            isSocket || name == "localhost" || name == "::1"
                || (name.hasPrefix("127.") && name.allSatisfy { $0.isNumber || $0 == "." })
        }

        var isSocket: Bool { name.hasPrefix("/") || name.hasPrefix("@") }
    }

    /// The directory of the UNIX socket if the address names no host, in Debian.
    private static let defaultSocketDirectory = "/var/run/postgresql"
    private static let scheme = "postgresql://"

    /// The parameters in the address, with defaults that the environment of the process cannot change.
    let parameters: [Parameter]
    let hosts: [Host]

    /// Parses and checks an address.
    ///
    /// Connections to other machines must be encrypted, and the server must prove its name: `sslmode=verify-full`. An
    /// address with `sslmode=disable` is also accepted, because the administrator wrote it.
    ///
    /// - Parameter text: The address.
    /// - Throws: `PostgresAddressError`, which never contains the password.
    package init(_ text: String) throws(PostgresAddressError) {
        guard text.hasPrefix(Self.scheme) else { throw .invalid("it does not begin with \(Self.scheme)") }
        guard !text.utf8.contains(0) else { throw .invalid("it contains a NUL byte") }
        var found = try Self.parse(text)
        for (keyword, reason) in [
            ("service", "write the parameters of the service into the address"),
            ("replication", "it is for standbys"),
            ("options", "the session's settings must not depend on the address"),
            ("target_session_attrs", "the value read-write is always used"),
        ] where found.contains(where: { $0.keyword == keyword }) {
            throw .parameter(keyword, reason)
        }
        if !found.contains(where: { $0.keyword == "host" || $0.keyword == "hostaddr" }) {
            found.append(Parameter("host", Self.defaultSocketDirectory))
        }
        hosts = try Self.hosts(in: found)
        let mode = found.first { $0.keyword == "sslmode" }?.value
        if let remote = hosts.first(where: { !$0.isLocal }), mode != "disable", mode != "verify-full" {
            throw .unencrypted(host: remote.name, mode: mode)
        }
        if mode == nil { found.append(Parameter("sslmode", "prefer")) }
        // An encryption of Kerberos would replace TLS.
        if !found.contains(where: { $0.keyword == "gssencmode" }) { found.append(Parameter("gssencmode", "disable")) }
        parameters = found
    }

    private static func hosts(in parameters: [Parameter]) throws(PostgresAddressError) -> [Host] {
        func list(_ keyword: String) -> [String] {
            guard let value = parameters.first(where: { $0.keyword == keyword })?.value else { return [] }
            return value.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let (names, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
        let count = max(names.count, addresses.count)
        guard addresses.isEmpty || names.isEmpty || names.count == addresses.count else {
            throw .invalid("the number of hosts and of IP addresses in `hostaddr` differ")
        }
        guard ports.count <= 1 || ports.count == count else {
            throw .invalid("the number of hosts and of ports differ")
        }
        for port in ports where !port.isEmpty && !(UInt16(port).map { $0 > 0 } ?? false) {
            throw .invalid("'\(port)' is not a port from 1 to 65535")
        }
        return (0..<count).map { index in
            let name = index < names.count ? names[index] : ""
            // libpq connects to the IP address, and uses the name to check the certificate.
            let address = index < addresses.count ? addresses[index] : ""
            let port = ports.count == 1 ? ports[0] : index < ports.count ? ports[index] : ""
            let place = address.isEmpty ? (name.isEmpty ? defaultSocketDirectory : name) : address
            return Host(name: place, port: port.isEmpty ? nil : port)
        }
    }

    /// Parses the text with `PQconninfoParse`, which also decodes percent signs.
    private static func parse(_ text: String) throws(PostgresAddressError) -> [Parameter] {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = unsafe PQconninfoParse(text, &message) else {
            let reason = unsafe message.map { unsafe String(cString: $0) } ?? "out of memory"
            unsafe PQfreemem(message)
            throw .invalid(withoutSecrets(reason))
        }
        defer { unsafe PQconninfoFree(options) }
        var found: [Parameter] = []
        var next = unsafe options
        while let keyword = unsafe next.pointee.keyword {
            if let value = unsafe next.pointee.val {
                unsafe found.append(Parameter(String(cString: keyword), String(cString: value)))
            }
            unsafe next += 1
        }
        return found
    }

    /// Removes the part of an error message of libpq that may contain a password.
    ///
    /// The messages end with a colon and a part of the address. That part is shown only if it can be the name of a
    /// parameter.
    ///
    /// - Parameter message: The message of `PQconninfoParse`.
    /// - Returns: The message without that part.
    private static func withoutSecrets(_ message: String) -> String {
        let line = message.prefix { $0 != "\n" }
        guard let colon = line.firstRange(of: ": ") else { return String(line) }
        let part = line[colon.upperBound...]
        let isKeyword = part.allSatisfy { $0 == "\"" || $0 == "_" || $0.isLowercase }
        return isKeyword ? String(line) : String(line[..<colon.lowerBound])
    }
}

extension PostgresAddress: CustomStringConvertible {
    /// The address with its user, hosts and database only, for logs and status.
    package var description: String {
        func value(_ keyword: String) -> String? { parameters.first { $0.keyword == keyword }?.value }
        let places = hosts.map { host in
            let name = host.name.contains(":") ? "[\(host.name)]" : host.name
            return host.port.map { "\(name):\($0)" } ?? name
        }
        let user = value("user").map { "\($0)@" } ?? ""
        return "\(Self.scheme)\(user)\(places.joined(separator: ","))/\(value("dbname") ?? "")"
    }
}

/// The reason why the address of a PostgreSQL cluster was refused.
package enum PostgresAddressError: Error, Sendable, Equatable {
    /// The text is not an address.
    case invalid(String)
    /// A parameter is not allowed, for this reason.
    case parameter(String, String)
    /// A connection to another machine would not be encrypted, or the server would not prove its name.
    case unencrypted(host: String, mode: String?)
}

extension PostgresAddressError: CustomStringConvertible {
    /// The error in one line, with the action that it requires.
    package var description: String {
        switch self {
        case .invalid(let reason):
            "not a valid PostgreSQL address: \(reason). Write postgresql://USER@HOST/DATABASE?sslmode=verify-full."
        case .parameter(let keyword, let reason):
            "the PostgreSQL address must not have the parameter '\(keyword)': \(reason)."
        case .unencrypted(let host, let mode):
            "the connection to \(host) would not be protected (sslmode is \(mode ?? "not set")). "
                + "Add sslmode=verify-full to the address, or sslmode=disable in a network that you trust."
        }
    }
}
