// SPDX-License-Identifier: Apache-2.0

import PushCore
@testable import PushServer
import PushTLS
import TestSupport
import Testing

@Suite struct ServerCommandTests {
    @Test(arguments: [
        (["--bogus"], 64, "--bogus"), (["--listen", "nonsense"], 64, "--listen"), (["--port", "1"], 64, "--ephemeral"),
        (["--ephemeral", "--port", "x"], 64, "--port"), (["--ephemeral", "--topic", "no topic"], 64, "no topic"),
        (["--ephemeral", "--data-directory", "/d"], 64, "--data-directory"),
        (["--config", "/nonexistent.ini"], 78, "/nonexistent.ini"),
        (["--certificate-file", "/c.pem"], 78, "private_key_file"),
        (["--certificate-file", "/c.pem", "--private-key-file", "/k.pem", "--check-config"], 78, "/c.pem"),
        (["--webhook-ca-file", "/c.pem", "--check-config"], 78, "webhook_ca_file: /c.pem"),
        (["--pending-per-topic", "6", "--pending-per-device", "5"], 78, "pending_per_topic"),
        (["--names", "push.example.org,localhost"], 64, "push.example.org,localhost"),
        (["--trace", "maybe"], 64, "Choose on or off."), (["--open-enrolment", "maybe"], 64, "Choose yes or no."),
        (["--restore", "/b", "--check"], 64, "--restore"), (["--check-backup", "/b", "--check"], 64, "--check-backup"),
        (["--check-backup", "/b", "--restore", "/b"], 64, "--restore"),
        (["--check-backup", "/b", "--ephemeral"], 64, "--ephemeral"),
        (["--migrate", "sqlite:/d", "--check"], 64, "--migrate"), (["--from", "sqlite:/d"], 64, "--migrate"),
        (["--migrate", "sqlite:/d"], 64, "--from"), (["--migrate", "sqlite:"], 64, "directory"),
        (["--migrate", "mysql://h/d"], 64, "postgresql://"),
        (["--migrate", "postgresql://u:secret@db1/d"], 64, "sslmode=verify-full"),
        (["--migrate", "sqlite:/d", "--from", "sqlite:/e"], 64, "same kind"),
        (["--migrate", "postgresql:///d", "--from", "postgresql:///e"], 64, "same kind"),
    ])
    func `an invalid command line is reported after the program's name, with the right status`(
        arguments: [String], status: Int32, mention: String
    ) {
        #expect {
            try ServerCommand.parse(arguments, environment: [:])
        } throws: { error in
            guard let error = error as? CommandLineError else { return false }
            return error.exitStatus == status && error.text.hasPrefix("posthornd: ") && error.text.contains(mention)
                && error.text.split(separator: "\n").count >= 2
        }
    }

    @Test func `an invalid variable is a configuration error`() {
        #expect {
            try ServerCommand.parse(["--data-directory", "/d"], environment: ["POSTHORN_LOOPS": "none"])
        } throws: { error in
            (error as? CommandLineError)?.exitStatus == 78
        }
    }

    @Test func `an ephemeral server reads only TMPDIR from the environment`() throws {
        let environment = ["POSTHORN_LISTEN": "nonsense", "TMPDIR": "/elsewhere"]
        guard case .run(let configuration) = try ServerCommand.parse(["--ephemeral"], environment: environment) else {
            Issue.record("it does not run")
            return
        }
        #expect(configuration.host == "127.0.0.1")
        #expect(configuration.ephemeral?.parentDirectory == "/elsewhere")
        #expect(configuration.ephemeral?.topics == ["com.example.MyApp"])
    }

    @Test func `a backup is checked even with an invalid configuration`() throws {
        let request = try ServerCommand.parse(["--check-backup", "b"], environment: ["POSTHORN_LOOPS": "none"])
        guard case .checkBackup("b") = request else {
            Issue.record("it does something else")
            return
        }
    }

    @Test func `a file of webhook authorities must hold a certificate, and may hold other text`() throws {
        let files = try TemporaryDirectory()
        let authority = try CertificateAuthority.make(commonName: "Webhooks")
        let text = String(decoding: authority.certificate, as: UTF8.self)
        for (content, isGood) in [("", false), ("no certificate\n", false), (text, true), ("# ours\n" + text, true)] {
            let arguments = ["--webhook-ca-file", try files.write(content, to: "ca.pem"), "--check-config"]
            if isGood {
                #expect(throws: Never.self) { try ServerCommand.parse(arguments, environment: [:]) }
            } else {
                #expect(throws: CommandLineError.self) { try ServerCommand.parse(arguments, environment: [:]) }
            }
        }
    }

    @Test func `a temporary directory that is too deep for a socket is refused`() {
        let deep = "/" + String(repeating: "d", count: 80)
        #expect(throws: CommandLineError.self) {
            try ServerCommand.parse(["--ephemeral"], environment: ["TMPDIR": deep])
        }
    }
}
