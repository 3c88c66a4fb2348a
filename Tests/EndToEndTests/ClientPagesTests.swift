// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceAPIEndToEnd {
    /// Runs the code of docs/how-to/clients as it is printed there, against a real server.
    struct ClientPagesTests {
        /// The alert that every page sends.
        private static let alert = ["title": "Lunch at Noon", "body": "Anna waits at the usual place."]

        @Test(.tags(.slow), arguments: ClientPage.all.filter { $0.isRun && $0.language == .python })
        func `the Python of a client's page sends, and prints the promised output`(page: ClientPage) async throws {
            let environments = try await Self.environments.value
            let python = try #require(environments[page.name], "\(page.name)")
            try await expectPromises(of: page, by: python.python)
        }

        @Test(arguments: ClientPage.all.filter { $0.isRun && $0.language == .shell })
        func `the shell script of a client's page sends and prints the promised output`(page: ClientPage) async throws {
            try await expectPromises(of: page, by: "/bin/sh")
        }

        @Test(
            .enabled(if: (try? RepositoryPaths.tool("node")) != nil, "node is not installed"),
            arguments: ClientPage.all.filter { $0.isRun && $0.language == .javaScript })
        func `the JavaScript of a client's page sends, and prints the promised output`(page: ClientPage) async throws {
            try await expectPromises(of: page, by: try RepositoryPaths.tool("node"))
        }

        @Test(arguments: ClientPage.all)
        func `a client's page states if tests run it, the output for each token, and package versions`(
            page: ClientPage
        ) throws {
            #expect(page.isRun != page.text.replacing("\n", with: " ").contains("Our tests do not run this code: "))
            #expect(!page.isRun || page.language != nil)
            for token in ClientPage.Token.allCases { #expect(page.text.contains("\n| \(token.rawValue) | ")) }
            #expect(page.packages.allSatisfy { $0.contains("==") })
            #expect(page.isRun == (page.text.contains("| The device token is | It prints |")))
        }

        @Test func `the server has no warning about the payload of the pages`() async throws {
            let run = try await ClientPageRun(of: ClientPage("curl"), by: "/bin/sh", files: [".curlrc": "include\n"])
            let output = try await run.result(for: .registered).output
            #expect(output.contains("HTTP/2 200"))
            #expect(!output.contains("posthorn-warning"), "\(output)")
        }

        @Test func `the list of clients has a row for each page, and no other`() {
            let list = readText("\(ClientPage.folder)/README.md")
            let linked = list.matches(of: /\n\| \[.+?\]\(([a-z0-9-]+)\.md\)/).map { String($0.1) }
            #expect(linked.sorted() == ClientPage.all.map(\.name))
        }

        /// The interpreters by the page's name, which are created once, two at a time.
        private static let environments = Task {
            try await withThrowingTaskGroup(of: (String, VirtualEnvironment).self) { group in
                var made: [String: VirtualEnvironment] = [:]
                for (index, page) in ClientPage.all.filter({ $0.language == .python }).enumerated() {
                    if index > 1, let (name, environment) = try await group.next() { made[name] = environment }
                    group.addTask { (page.name, try await VirtualEnvironment.with(page.packages)) }
                }
                for try await (name, environment) in group { made[name] = environment }
                return made
            }
        }

        /// Runs the page's program with a valid and two invalid device tokens, and checks the deliveries.
        private func expectPromises(of page: ClientPage, by interpreter: String) async throws {
            let run = try await ClientPageRun(of: page, by: interpreter)
            try await withThrowingTaskGroup { group in
                for token in ClientPage.Token.allCases {
                    group.addTask {
                        let output = try await run.output(for: token)
                        let promise = try page.answer(to: token)
                        #expect(try promise.wholeMatch(in: output) != nil, "\(token.rawValue): \(output)")
                    }
                }
                try await group.waitForAll()
            }
            try await expectArrival(at: run.server)
        }

        /// Checks that one notification arrived with the page's content.
        private func expectArrival(at server: EphemeralServer) async throws {
            let received = try await eventualValue("it arrives") {
                let received = try await server.admin.received()
                return received.isEmpty ? nil : received
            }
            #expect(received.count == 1)
            #expect(received[0].token == server.topic.token)
            #expect(received[0].headers["apns-topic"] == server.topic.topic)
            #expect(["alert", nil].contains(received[0].headers["apns-push-type"]))
            let payload = try JSONSerialization.jsonObject(with: Data(received[0].payload.utf8))
            let aps = try #require((payload as? [String: Any])?["aps"] as? [String: Any])
            #expect(aps["alert"] as? [String: String] == Self.alert)
            #expect(aps["badge"] as? Int == 1)
            #expect(aps["sound"] as? String == "default")
        }
    }
}
