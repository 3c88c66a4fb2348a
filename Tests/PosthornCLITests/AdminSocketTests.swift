// SPDX-License-Identifier: Apache-2.0

@testable import PosthornCLI
internal import Testing

struct AdminSocketTests {
    private static let system = "/run/posthorn/admin.sock"

    @Test(arguments: [
        (["HOME": "/h"], ["/h/.local/share/posthorn/server/admin.sock"]),
        (["HOME": "/h", "XDG_DATA_HOME": "/d"], ["/d/posthorn/server/admin.sock"]),
        (["HOME": "/h", "XDG_DATA_HOME": "relative"], ["/h/.local/share/posthorn/server/admin.sock"]),
        (["HOME": "/h", "XDG_DATA_HOME": ""], ["/h/.local/share/posthorn/server/admin.sock"]), ([:], []),
    ])
    func `the system's socket is tried before the user's`(environment: [String: String], own: [String]) {
        let context = CommandContext(environment: environment, isRoot: false)
        #expect(AdminSocket.candidates(named: nil, in: context) == [Self.system] + own)
    }

    @Test func `root's own server keeps its socket in the system's data directory`() {
        let context = CommandContext(environment: ["HOME": "/h"], isRoot: true)
        #expect(AdminSocket.candidates(named: nil, in: context) == [Self.system, "/var/lib/posthorn/admin.sock"])
    }

    @Test func `a given socket is the only one tried, and the option overrides the environment`() {
        let context = CommandContext(environment: ["POSTHORN_ADMIN_SOCKET": "/e"], isRoot: true)
        #expect(AdminSocket.candidates(named: "/o", in: context) == ["/o"])
        #expect(AdminSocket.candidates(named: nil, in: context) == ["/e"])
        let empty = CommandContext(environment: ["POSTHORN_ADMIN_SOCKET": ""], isRoot: true)
        #expect(AdminSocket.candidates(named: nil, in: empty).count == 2)
    }
}
