// SPDX-License-Identifier: Apache-2.0

internal import PosthornCLI
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
        let surroundings = CommandContext(environment: environment, isRoot: false)
        #expect(AdminSocket.candidates(named: nil, in: surroundings) == [Self.system] + own)
    }

    @Test func `root's own server keeps its socket in the system's data directory`() {
        let surroundings = CommandContext(environment: ["HOME": "/h"], isRoot: true)
        #expect(AdminSocket.candidates(named: nil, in: surroundings) == [Self.system, "/var/lib/posthorn/admin.sock"])
    }

    @Test func `a given socket is the only one tried, and the option overrides the environment`() {
        let surroundings = CommandContext(environment: ["POSTHORN_ADMIN_SOCKET": "/e"], isRoot: true)
        #expect(AdminSocket.candidates(named: "/o", in: surroundings) == ["/o"])
        #expect(AdminSocket.candidates(named: nil, in: surroundings) == ["/e"])
        let empty = CommandContext(environment: ["POSTHORN_ADMIN_SOCKET": ""], isRoot: true)
        #expect(AdminSocket.candidates(named: nil, in: empty).count == 2)
    }
}
