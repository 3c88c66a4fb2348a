// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension ServerEndToEnd {
    /// Runs the commands of the documents.
    struct DocumentationTests {
        @Test(.tags(.slow)) func `the demonstration shows alert, badge and sound, then no sound, then the panel`()
            async throws
        {
            let programs = RepositoryPaths.programs
            let demo = try await RunningProcess.run(
                "\(RepositoryPaths.root)/examples/demo.sh",
                environment: ["POSTHORN_PROGRAMS": programs, "DISPLAY": "", "WAYLAND_DISPLAY": ""],
                within: .seconds(120)
            ).succeeded()
            let pictures = demo.output.matches(of: /\.demo\/(\S+\.png)\. Sounds played so far: ([0-9]+)/)
            #expect(pictures.map { String($0.2) } == ["1", "1", "1", "1"], "\(demo.output)")
            for picture in pictures {
                let file = "\(RepositoryPaths.root)/.demo/\(picture.1)"
                #expect(FileManager.default.contents(atPath: file)?.starts(with: [0x89, 0x50, 0x4E, 0x47]) == true)
            }
            #expect(demo.output.contains(/org\.example\.Mail\s+Example Mail\s+on\s+off\s+alert\s+5/))
            #expect(demo.output.contains("$ posthorn app add org.example.Mail --name 'Example Mail'\n"))
            try await expectNextStepsWork(demo.output)
        }

        @Test func `the shell lines of the page on tests work as printed`() async throws {
            let folder = try TemporaryDirectory()
            let page = readText("\(RepositoryPaths.root)/docs/how-to/use-in-tests.md")
            let blocks = page.matches(of: /\n```sh\n((?s:.*?))```/).map { String($0.1) }
            #expect(blocks.count > 3)
            let script =
                "set -eu\nserver=\ntrap 'kill $server 2>/dev/null || true' EXIT\ncd \(folder.path)\nPATH=\(RepositoryPaths.programs):$PATH\n"
                + blocks.joined()
                + "\necho \"$port $ca_file $token $device_secret\"\nkill \"$server\"\nwait \"$server\""
            let shell = try await RunningProcess.run("/bin/sh", ["-c", script]).succeeded()
            #expect(shell.output.contains(/\{"notifications":\[\]\}/))
            let line = /[0-9]{2,5} \/tmp\/\S+\.pem [0-9a-f]{64} [0-9a-f]{16}\.\S{43}\n/
            #expect(shell.output.contains(line), "\(shell.output)")
        }

        @Test(.tags(.slow)) func `the JSON of the agent's commands has the members that the page shows`() async throws {
            let stack = try await TestStack()
            #expect(try await stack.provider.send(stack.notification("At noon?")).status == 200)
            try await stack.user.waitForEntry("it arrives") { $0.body == "At noon?" }
            let page = readText("\(RepositoryPaths.root)/docs/reference/cli.md")
            let examples = page.matches(of: /\n```json\n((?s:.*?))```/).map { String($0.1) }
            // The last example is the output of a command that fails.
            let commands = [["agent", "status"], ["settings", "list"], ["inbox", "list"], ["app", "nonsense"]]
            #expect(examples.count == commands.count)
            for (command, example) in zip(commands, examples) {
                let answer = try await stack.user.run(command + ["--json"])
                #expect(try members(answer.output) == members(example), "\(command)")
            }
        }

        /// Returns the names of the members of an object and of the objects in it.
        private func members(_ json: String) throws -> Set<String> {
            func names(_ value: Any) -> [String] {
                if let array = value as? [Any] { return array.flatMap(names) }
                guard let object = value as? [String: Any] else { return [] }
                return object.flatMap { [$0.key] + names($0.value) }
            }
            return Set(names(try JSONSerialization.jsonObject(with: Data(json.utf8))))
        }

        /// Checks that the programs of "Try next" are found after its first line.
        private func expectNextStepsWork(_ output: String) async throws {
            let export = try #require(output.firstMatch(of: /\n {2}(export PATH=.+)\n/)).1
            let found = try await RunningProcess.run(
                "/bin/sh", ["-c", "\(export)\ncommand -v posthornd; command -v posthorn"],
                environment: ["PATH": "/usr/bin:/bin"]
            ).succeeded()
            #expect(found.output == "\(RepositoryPaths.programs)/posthornd\n\(RepositoryPaths.programs)/posthorn\n")
        }
    }
}
