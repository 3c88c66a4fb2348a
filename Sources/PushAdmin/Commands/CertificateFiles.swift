// SPDX-License-Identifier: Apache-2.0

package import PushCore
internal import PushTLS

/// Where `certificate issue` writes what it got, and under which password.
package struct CertificateFiles: Sendable {
    /// The password of a PKCS#12 file.
    package struct Password: Sendable {
        /// Not empty, without zero bytes.
        package let text: String
        /// It was made here, so nobody knows it yet.
        package let isMade: Bool

        /// Joins both.
        package init(text: String, isMade: Bool) {
            self.text = text
            self.isMade = isMade
        }
    }

    /// The PEM file with certificate and private key; nil for none.
    package let pem: String?
    /// The PKCS#12 file; nil for none.
    package let p12: String?

    /// Finds out where to write, and what would stand in the way.
    ///
    /// - Parameter invocation: With the topic and perhaps with output, p12 and password-file.
    /// - Throws: When a file exists or cannot be made, or a password is for nothing.
    package init(_ invocation: Invocation) throws(CommandError) {
        let topic = invocation.arguments[0]
        // A topic that may not be part of a file's name is one that the server refuses.
        let name = HeaderValues.isTopic(Array(topic.utf8).span) ? "CERT_\(topic)" : "CERT"
        p12 = invocation.value("p12").map { Self.path($0, name: "\(name).p12") }
        let output = invocation.value("output")
        pem = output == nil && p12 != nil ? nil : Self.path(output ?? ".", name: "\(name).pem")
        guard p12 != nil || !invocation.has("password-file") else {
            throw .usage(invocation.error(.contradiction("--password-file goes with --p12")))
        }
        do throws(FileError) {
            for path in [pem, p12].compactMap(\.self) { try LocalFile.checkCreation(path) }
        } catch {
            throw .file(error)
        }
    }

    /// The file, or the one of this name in the directory.
    private static func path(_ given: String, name: String) -> String {
        guard LocalFile.isDirectory(given) else { return given }
        if given == "." { return name }
        return given.hasSuffix("/") ? given + name : "\(given)/\(name)"
    }

    /// The password of the PKCS#12 file: from a file, from the terminal, or made; nil where there is no such file.
    func password(_ invocation: Invocation) throws(CommandError) -> Password? {
        guard let p12 else { return nil }
        if let path = invocation.value("password-file") {
            return Password(text: try Self.password(inFile: path), isMade: false)
        }
        let typed = try Console.askForPassword("Password for \(p12) (none: one is made)")
        return typed.map { Password(text: $0, isMade: false) } ?? Password(text: Self.makePassword(), isMade: true)
    }

    /// The first line of a file.
    ///
    /// - Parameter path: The file.
    /// - Returns: The line without its end.
    /// - Throws: When it cannot be read, or the line is empty, no UTF-8, or contains a zero byte.
    package static func password(inFile path: String) throws(CommandError) -> String {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try LocalFile.read(path) } catch { throw .file(error) }
        var line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard !line.isEmpty, !line.contains(0), let text = String(validating: line, as: UTF8.self) else {
            throw .badFile(
                path: path, problem: "its first line is no password", remedy: "Write a password of at least one letter."
            )
        }
        return text
    }

    /// 100 bits in letters and digits that cannot be mistaken for each other.
    private static func makePassword() -> String {
        let alphabet = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789".utf8)
        precondition(alphabet.count == 32, "five bits of a byte choose one character")
        return String(decoding: SecureRandom.bytes(count: 20).map { alphabet[Int($0 & 31)] }, as: UTF8.self)
    }

    /// Writes the files, all or none.
    ///
    /// - Parameters:
    ///   - certificate: As the server issued it.
    ///   - name: What key stores show for the PKCS#12 file.
    ///   - password: Of the PKCS#12 file.
    /// - Throws: When the server left out a part, or a file cannot be written.
    package func write(
        _ certificate: AdminAPI.Certificate, named name: String, password: String?
    ) throws(CommandError) {
        guard let text = certificate.certificate, let key = certificate.privateKey else {
            throw .badAnswer(of: "the server", detail: "a certificate without its private key")
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
