// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TestSupport
internal import Testing

extension DeviceEndToEnd {
    /// Checks links and pictures from the provider to the notification server.
    struct AttachmentTests {
        @Test func `a banner has the picture and the host of the link, and OK where there is nothing to open`()
            async throws
        {
            let pictures = try await PictureServer()
            let bus = try await DesktopBus()
            let daemon = try await RecordingDaemon(bus)
            let stack = try await TestStack(bus: bus, environment: ["SSL_CERT_FILE": pictures.caFile]) { user in
                try user.files.makeDirectory("data/posthorn/apps")
                try user.files.write(
                    #"{"picture_hosts":["\#(pictures.host)"]}"#, to: "data/posthorn/apps/\(TestStack.app).json")
            }
            try await send(
                #""url":"https://example.org/1","attachment-url":"\#(pictures.url("photo"))""#, in: stack, daemon, 1)
            let first = try #require(daemon.shown().first?.call)
            #expect(first.body == "Photo\nexample.org")
            #expect(first.actions.contains("view"))
            let path = try #require(URL(string: first.picture)).path
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)).starts(with: [0x89, 0x50, 0x4E, 0x47]))
            let shown = try await stack.user.posthorn("inbox", "show", "1").output
            #expect(shown.contains("Opens     https://example.org/1\n") && shown.contains("Picture   \(path)\n"))

            try await send(
                #""url":"http://example.org/1","attachment-url":"https://127.0.0.1:1/photo""#, in: stack, daemon, 2)
            let second = try #require(daemon.shown().last?.call)
            #expect(second.actions == ["ok", "OK"] && second.picture.isEmpty && second.body == "Photo")
            let ignored = try await stack.user.posthorn("inbox", "show", "2").output
            #expect(ignored.contains("url: its scheme is never opened; use https"))
            #expect(ignored.contains("attachment-url: the app does not name the host 127.0.0.1"))

            try await stack.user.posthorn("inbox", "clear", "1")
            #expect(!FileManager.default.fileExists(atPath: path))
        }

        @Test func `a filter names the file of a picture, which the sender cannot`() async throws {
            let bus = try await DesktopBus()
            let daemon = try await RecordingDaemon(bus)
            let photo = "\(RepositoryPaths.root)/docs/images/alert.png"
            let stack = try await TestStack(bus: bus) { user in
                let own = user.files.path(of: "photo.png")
                try FileManager.default.copyItem(atPath: photo, toPath: own)
                // Without a path from the sender, the filter names its own file; otherwise it changes nothing.
                let filter = try user.files.write(
                    """
                    #!/bin/sh
                    payload=$(sed 's/^.*"payload"://; s/}$//')
                    case $payload in
                        *attachment-path*) echo "$payload" ;;
                        *) echo '{"aps":{"alert":"Opened"},"attachment-path":"\(own)"}' ;;
                    esac

                    """, to: "filter.sh", permissions: 0o700)
                try user.files.makeDirectory("data/posthorn/apps")
                try user.files.write(#"{"filter":["\#(filter)"]}"#, to: "data/posthorn/apps/\(TestStack.app).json")
            }
            try await send(#""n":1"#, in: stack, daemon, 1)
            let first = try #require(daemon.shown().first?.call)
            let path = try #require(URL(string: first.picture)).path
            let picture = try Data(contentsOf: URL(fileURLWithPath: path))
            #expect(first.body == "Opened" && picture.starts(with: [0x89, 0x50, 0x4E, 0x47]))
            #expect(try picture != Data(contentsOf: URL(fileURLWithPath: photo)), "it was converted")

            let own = stack.user.files.path(of: "photo.png")
            try await send(#""attachment-path":"\#(own)""#, in: stack, daemon, 2)
            #expect(try #require(daemon.shown().last?.call).picture.isEmpty)
            let ignored = try await stack.user.posthorn("inbox", "show", "2").output
            #expect(ignored.contains("attachment-path: only the app's filter can name a file"))

            try await stack.user.posthorn("unregister", TestStack.app)
            #expect(!FileManager.default.fileExists(atPath: path))
        }

        /// Sends an alert with more members, and waits until the notification server has this many calls.
        private func send(
            _ members: String, in stack: TestStack, _ daemon: RecordingDaemon, _ count: Int
        ) async throws {
            let payload = #"{"aps":{"alert":"Photo","mutable-content":1},\#(members)}"#
            let sent = try await stack.provider.send(SentNotification(token: stack.token, payload: payload))
            #expect(sent.status == 200)
            try await eventually("the banner is shown", evidence: { stack.user.agent.now.transcript }) {
                daemon.shown().count == count
            }
        }
    }
}
