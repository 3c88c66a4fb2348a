// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A throw-away authority and a certificate for localhost in a temporary directory, made with the openssl program.
final class Certificates {
    let directory: URL
    /// The path of the authority's certificate, which clients trust.
    var authority: String { directory.appending(path: "ca.pem").path }
    /// The path of the file with the server's certificate and key.
    var chain: String { directory.appending(path: "server.pem").path }
    var certificate: String { directory.appending(path: "server.crt").path }
    var key: String { directory.appending(path: "server.key").path }

    init(host: String = "DNS:localhost,IP:127.0.0.1", key: String = "ec -pkeyopt ec_paramgen_curve:P-256") throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "posthorn-curl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let script = """
            set -e
            openssl req -x509 -newkey \(key) -nodes -keyout ca.key -out ca.pem \
              -subj /CN=authority -days 2
            openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout server.key -out server.csr -subj /CN=s
            printf 'subjectAltName=\(host)' > san
            openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out server.crt -days 1 -extfile san
            cat server.crt server.key > server.pem
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script]
        process.currentDirectoryURL = directory
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw TestFailure.noServer }
    }

    deinit { try? FileManager.default.removeItem(at: directory) }
}
