// SPDX-License-Identifier: Apache-2.0

import DeviceAgent
import Foundation
import PushDBus
import TestSupport
import Testing

struct DesktopScreenTests {
    @Test(arguments: DesktopScreen.Server.allCases)
    func `shots`(server: DesktopScreen.Server) async throws {
        let screen = try await DesktopScreen()
        let process = try await screen.start(server)
        let session = try DesktopSession(screen.bus)
        let presenter = try session.presenter()
        let answer = try await session.present(
            Alert(
                entry: 1, appID: "org.posthorn.Test", appName: "Orders", icon: "dialog-information",
                title: "New <b>order</b> & it's \"late\"", subtitle: "Table 4", body: "Two coffees,\none cake"),
            with: presenter)
        #expect(answer == .shown(playsSound: false))
        try await session.run(until: "x") {
            try await screen.xdotool("search", "--onlyvisible", "--name", ".*").output.split(separator: "\n").count >= 1
        }
        try await Task.sleep(for: .milliseconds(700))
        try await screen.screenshot(to: "/tmp/shot-\(server.rawValue).png")
        let windows = try await screen.xdotool("search", "--onlyvisible", "--name", ".*")
        print(server, windows.output, windows.errorOutput)
        for w in windows.output.split(separator: "\n") {
            print(try await screen.xdotool("getwindowgeometry", "\(w)").output)
        }
        print(process.transcript)
    }
}
