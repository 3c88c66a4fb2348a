// SPDX-License-Identifier: Apache-2.0

internal import CommandLineKit
internal import PushAPI
internal import PushCore
internal import PushTLS

/// The output files and the password of `certificate issue`.
struct CertificateFiles: Sendable {
    /// The password of a PKCS#12 file.
    struct Password: Sendable {
        /// The password; not empty and without zero bytes.
        let text: String
        /// Whether this command generated the password, so that it must be printed.
        let isMade: Bool
    }

    /// The path of the PEM file with the certificate and private key; nil if none is written.
    let pem: String?
    /// The path of the PKCS#12 file; nil if none is written.
    let p12: String?

    /// Chooses the paths and checks that the files can be created.
    ///
    /// - Parameter invocation: The command line, with the topic and optionally `--output`, `--p12` and
    ///   `--password-file`.
    /// - Throws: An error when a file exists or cannot be created, or `--password-file` is given without `--p12`.
    init(_ invocation: Invocation) throws(CommandError) {
        let topic = TopicName(invocation.arguments[0])
        // The server refuses an invalid topic, so it never becomes part of a file name.
        let name = topic.isValid ? "CERT_\(topic)" : "CERT"
        p12 = invocation.value("p12").map { Self.path($0, name: "\(name).p12") }
        let output = invocation.value("output")
        pem = output == nil && p12 != nil ? nil : Self.path(output ?? ".", name: "\(name).pem")
        guard p12 != nil || !invocation.has("password-file") else {
            throw .usage(invocation.error(.contradiction("--password-file requires --p12")))
        }
        do throws(FileError) {
            for path in [pem, p12].compactMap(\.self) { try LocalFile.checkCreation(path) }
        } catch {
            throw .file(error)
        }
    }

    /// Returns the given path, or the path of the named file in it if it is a directory.
    private static func path(_ given: String, name: String) -> String {
        guard LocalFile.isDirectory(given) else { return given }
        if given == "." { return name }
        return given.hasSuffix("/") ? given + name : "\(given)/\(name)"
    }

    /// Returns the PKCS#12 password from a file, the terminal or a generator; nil if no PKCS#12 file is written.
    func password(_ invocation: Invocation) throws(CommandError) -> Password? {
        guard let p12 else { return nil }
        if let path = invocation.value("password-file") {
            return Password(text: try Self.password(inFile: path), isMade: false)
        }
        let typed = try Console.askForPassword("Password for \(p12) (empty: generate one)")
        return typed.map { Password(text: $0, isMade: false) } ?? Password(text: Self.makePassword(), isMade: true)
    }

    /// Reads the password from the first line of a file.
    ///
    /// - Parameter path: The path of the file.
    /// - Returns: The line without its line ending.
    /// - Throws: An error when the file is unreadable, or the line is empty, not UTF-8, or contains a zero byte.
    static func password(inFile path: String) throws(CommandError) -> String {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try LocalFile.read(path) } catch { throw .file(error) }
        var line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard !line.isEmpty, !line.contains(0), let text = String(validating: line, as: UTF8.self) else {
            throw .badFile(
                path: path, problem: "the first line is not a valid password",
                remedy: "Write the password on the first line."
            )
        }
        return text
    }

    /// Generates a password with 100 bits of entropy, from letters and digits that are easy to tell apart.
    private static func makePassword() -> String {
        let alphabet = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789".utf8)
        precondition(alphabet.count == 32, "five bits of a byte choose one character")
        return String(decoding: SecureRandom.bytes(count: 20).map { alphabet[Int($0 & 31)] }, as: UTF8.self)
    }

    /// Writes all files, or none if one fails.
    ///
    /// - Parameters:
    ///   - certificate: The certificate, as the server issued it.
    ///   - name: The friendly name that key stores show for the PKCS#12 file.
    ///   - password: The password of the PKCS#12 file.
    /// - Throws: An error when the server's answer is incomplete or a file cannot be written.
    func write(
        _ certificate: CredentialAPI.Certificate, named name: String, password: String?
    ) throws(CommandError) {
        guard let text = certificate.certificate, let key = certificate.privateKey else {
            throw .badAnswer(of: "the server", detail: "certificate without private key")
        }
        var contents: [(path: String, bytes: [UInt8])] = []
        if let pem { contents.append((pem, Array((text + key).utf8))) }
        if let p12, let password {
            do throws(TLSError) {
                let bytes = try PKCS12.make(
                    certificate: Array(text.utf8), privateKey: Array(key.utf8), authority: nil, friendlyName: name,
                    password: password)
                contents.append((p12, bytes))
            } catch {
                throw .badAnswer(of: "the server", detail: error.description)
            }
        }
        var written: [String] = []
        for (path, bytes) in contents {
            do throws(FileError) {
                try LocalFile.create(path, holding: bytes)
                written.append(path)
            } catch {
                for path in written { LocalFile.remove(path) }
                throw .file(error)
            }
        }
    }
}
