// SPDX-License-Identifier: Apache-2.0

@testable import PosthornCLI
internal import PushAPI
internal import TestSupport
internal import Testing

struct AuthorityCommandTests {
    private static let all = CredentialAPI.Authorities(
        version: 1, devices: 0, cutOff: 0,
        authorities: [("aa11", true), ("aa22", true), ("bb33", true), ("cc44", false)].map { id, isAnnounced in
            CredentialAPI.Authority(id: id, role: .file, announced: isAnnounced, serving: false, devices: 0)
        })

    private func error(_ words: String...) throws -> CommandError? {
        let invocation = try typed(["authority"] + words)
        guard let run = AdminProgram.root.find(["authority", words[0]]) else { throw NothingToRun() }
        // No server listens at the socket, so only errors in the command line are reported before that.
        let context = CommandContext(environment: [AdminSocket.variable: "/nonexistent/admin.sock"], isRoot: false)
        return thrown { () throws(CommandError) in _ = try run(invocation, context) }
    }

    @Test func `a CA is found by the first digits of its ID`() throws {
        #expect(try AuthorityCommands.announcedID(typed("authority", "remove", "b"), among: Self.all) == "bb33")
        #expect(try AuthorityCommands.announcedID(typed("authority", "remove", "aa2"), among: Self.all) == "aa22")
    }

    @Test(arguments: [
        ("zz", "no announced CA has the ID 'zz'"), ("cc", "no announced CA has the ID 'cc'"),
        ("", "no announced CA has the ID ''"), ("aa", "several CAs have an ID that begins with 'aa'"),
    ])
    func `an ID of no CA or of several is refused`(word: String, problem: String) throws {
        let invocation = try typed("authority", "remove", word)
        let error = thrown { () throws(CommandError) in
            _ = try AuthorityCommands.announcedID(invocation, among: Self.all)
        }
        #expect(error?.problem == "\(problem); see 'posthorn authority list'" && error?.exitCode == .usage)
    }

    @Test func `force is for the second step of a rotation`() throws {
        #expect(try error("rotate", "--force")?.problem == "--force requires --complete")
        #expect(try error("rotate", "--force", "--complete")?.exitCode == .unreachable)
    }

    @Test func `a file without a certificate is refused before any request`() throws {
        let files = try TemporaryDirectory()
        let path = try files.write("hello", to: "ca.pem")
        #expect(try error("announce", path)?.problem == "\(path): not a PEM certificate")
        #expect(try error("announce", path)?.remedy == "Specify a PEM file with the certificates of the CA.")
    }
}
