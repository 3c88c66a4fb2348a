// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The `--name value` pairs after the first word of the command line.
struct Options {
    let command: String
    private var values: [String: [String]] = [:]

    init(_ arguments: [String]) {
        guard arguments.count > 1 else { fail(Self.usage) }
        command = arguments[1]
        var index = 2
        while index + 1 < arguments.count, arguments[index].hasPrefix("--") {
            values[String(arguments[index].dropFirst(2)), default: []].append(arguments[index + 1])
            index += 2
        }
        guard index == arguments.count else { fail("\(arguments[index]) is not understood\n\(Self.usage)") }
    }

    static let usage = """
        usage: posthorn-bench enrol --port N --topic T --count N --out FILE [--channel ID]
               posthorn-bench load --protocol P --port N,… [--device-port N,…] [--publishers N] [--topics N]
                   [--identities FILE] [--paths FILE] [--header 'name: value']… [--expect STATUS,…]
                   [--broadcast-path PATH] [--broadcast-header 'name: value']… [--delivered yes] [--again yes]
               posthorn-bench soak --port N --topic T --identities FILE --rate N [--seconds N] [--channel ID]
               posthorn-bench upgrade --port N,… --topic T --identities FILE --rate N
               posthorn-bench outage --port N,… --topic T --identities FILE --outstanding N --count N [--away N]
               posthorn-bench storm --protocol P --port N --count N [--parallel N] [--resumed yes] [--identities FILE]
        protocols: posthorn-websocket posthorn-events posthorn-http2 floor redis mosquitto nats nchan http2
        `load`, `soak`, `upgrade` and `outage` read commands from their input: see Benchmarks/README.md
        """

    func text(_ name: String) -> String {
        guard let value = values[name]?.last else { fail("--\(name) is missing\n\(Self.usage)") }
        return value
    }

    func optional(_ name: String) -> String? { values[name]?.last }

    func number(_ name: String, _ preset: Int? = nil) -> Int {
        guard let text = values[name]?.last else {
            guard let preset else { fail("--\(name) is missing") }
            return preset
        }
        guard let number = Int(text) else { fail("--\(name) takes a number") }
        return number
    }

    /// Returns the ports of an option, which are separated by commas.
    func ports(_ name: String) -> [UInt16] {
        let ports = text(name).split(separator: ",").compactMap { UInt16($0) }
        guard !ports.isEmpty else { fail("--\(name) takes port numbers") }
        return ports
    }

    /// Returns the `name: value` options as fields.
    func fields(_ name: String) -> [Field] {
        (values[name] ?? []).map { text in
            let parts = text.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { fail("--\(name) takes 'name: value'") }
            return (String(parts[0]), String(parts[1].drop { $0 == " " }))
        }
    }
}

/// Returns the text of a whole file.
func readText(_ path: String) -> String {
    guard let file = fopen(path, "r") else { fail("cannot read \(path)") }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { bytes += chunk[..<count] }
    return String(decoding: bytes, as: UTF8.self)
}

/// Writes one line of JSON for the driver of the generator.
func answer(_ members: String) {
    write(1, "{\(members)}\n")
}
