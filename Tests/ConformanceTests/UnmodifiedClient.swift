// SPDX-License-Identifier: Apache-2.0

internal import TestSupport
internal import Testing

/// A client library, the program that uses it, and the details that the library reports.
struct UnmodifiedClient: Sendable, CustomTestStringConvertible {
    /// The library's common name.
    let name: String
    /// The program in python/clients.
    let script: String
    /// The packages to install with pip.
    ///
    /// When empty, the tests' own Python is used.
    var packages: [String] = []
    /// Whether the library reports the timestamp of a 410.
    var tellsTime = true
    /// Whether the results of a batch have their reason.
    var tellsReasonsOfBatch = true

    var testDescription: String { name }

    /// The number of valid device tokens in a batch, and of unknown ones.
    ///
    /// One more token is no longer registered.
    static let batchCount = 20

    static let all = [
        UnmodifiedClient(name: "aioapns", script: "send_with_aioapns.py", packages: ["aioapns==4.0"]),
        UnmodifiedClient(
            name: "httpx", script: "send_with_httpx.py",
            packages: ["httpx[http2]==0.28.1", "PyJWT==2.15.1", "cryptography==50.0.2"]),
        UnmodifiedClient(name: "apns2-up", script: "send_with_pyapns2.py", packages: ["apns2-up==0.9.0"]),
        UnmodifiedClient(name: "mopyapns", script: "send_with_pyapns2.py", packages: ["mopyapns==0.8.0"]),
        UnmodifiedClient(name: "kalyke-apns", script: "send_with_kalyke.py", packages: ["kalyke-apns==1.5.0"]),
        UnmodifiedClient(
            name: "pyapns-client", script: "send_with_pyapns_client.py", packages: ["pyapns-client==2.0.6"]),
        UnmodifiedClient(
            name: "simple-apns", script: "send_with_simple_apns.py", packages: ["simple-apns==0.1.2"],
            tellsTime: false, tellsReasonsOfBatch: false),
        UnmodifiedClient(name: "aapns", script: "send_with_aapns.py", packages: ["aapns==23.7"], tellsTime: false),
        UnmodifiedClient(name: "curl and openssl", script: "send_with_curl.py"),
    ]

    /// The results that the client must report for a batch.
    var wantedBatch: [String: Int] {
        guard tellsReasonsOfBatch else { return ["accepted": Self.batchCount, "refused": Self.batchCount + 1] }
        return ["accepted": Self.batchCount, "BadDeviceToken": Self.batchCount, "Unregistered": 1]
    }

    /// Returns the client's interpreter, and creates its virtual environment when it does not exist yet.
    func python() async throws -> String {
        packages.isEmpty ? RepositoryPaths.python : try await VirtualEnvironment.with(packages).python
    }
}
