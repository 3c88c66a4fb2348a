// SPDX-License-Identifier: Apache-2.0

@testable import PosthornCLI
internal import PushCore
internal import PushCurl
internal import TestSupport
internal import Testing

struct SendTests {
    private func options(
        _ words: [String], file: RequestFile = .none, environment: [String: String] = [:]
    ) throws -> SendOptions {
        SendOptions(
            try typed(["send"] + words), in: CommandContext(environment: environment, isRoot: false), file: file)
    }

    private func requestFile(_ json: String) throws -> RequestFile {
        try RequestFile(Array(json.utf8), path: "request.json")
    }

    @Test(arguments: [
        (["--title", "Hi"], #"{"aps":{"alert":{"title":"Hi"}}}"#),
        (["-b", "a\nb", "--badge", "0"], #"{"aps":{"alert":{"body":"a\nb"},"badge":0}}"#),
        (["--sound", "default", "--thread-id", "t"], #"{"aps":{"sound":"default","thread-id":"t"}}"#),
        (["--category", "c", "--badge", "3"], #"{"aps":{"badge":3,"category":"c"}}"#),
        (["--push-type", "background"], #"{"aps":{"content-available":1}}"#),
    ])
    func `the payload is built from the options`(words: [String], payload: String) throws {
        #expect(String(decoding: try options(words).payload(), as: UTF8.self) == payload)
    }

    @Test(arguments: [[], ["--category", "c"], ["--thread-id", "t", "--push-type", "alert"]])
    func `a notification without effect is refused with the missing options`(words: [String]) throws {
        let options = try options(words)
        let error = thrown { () throws(CommandError) in _ = try options.payload() }
        #expect(error?.exitCode == .usage)
        #expect(error?.remedy.contains("--title, --body, --badge, --sound") == true)
        #expect(!options.hasWholePayload)
        #expect(try self.options(["--payload", "-"]).hasWholePayload)
    }

    @Test func `a key without an ID says how to name its file`() throws {
        let options = try options([])
        let error = thrown { () throws(CommandError) in _ = try options.keyID(keyFile: "plain.p8") }
        #expect(error?.exitCode == .usage)
        #expect(error?.problem == "missing option: --key-id")
        #expect(error?.remedy == "Specify it, or name the key file AuthKey_KEYID.p8; see 'posthorn key list'.")
    }

    @Test(arguments: ["-1", "many", "1.5", "99999999999999999999"])
    func `an invalid badge is refused`(badge: String) throws {
        let options = try options(["--badge", badge])
        #expect(thrown { () throws(CommandError) in _ = try options.payload() }?.exitCode == .usage)
    }

    @Test func `a whole payload is sent byte for byte`() throws {
        let files = try TemporaryDirectory()
        let path = try files.write(" { \"aps\" : {} }\n", to: "payload.json")
        #expect(try options(["--payload", path]).payload() == Array(" { \"aps\" : {} }\n".utf8))
        let file = try requestFile(#"{"topic":"t","payload":{ "aps" : {"badge":1.0} } }"#)
        #expect(try options([], file: file).payload() == Array(#"{ "aps" : {"badge":1.0} }"#.utf8))
        #expect(try options(["--payload", path], file: file).payload() == Array(" { \"aps\" : {} }\n".utf8))
    }

    @Test func `a whole payload and options for its parts are refused together`() throws {
        let file = try requestFile(#"{"payload":{}}"#)
        for options in [try options(["--payload", "x", "--title", "y"]), try options(["--badge", "1"], file: file)] {
            let error = thrown { () throws(CommandError) in _ = try options.payload() }
            #expect(error?.exitCode == .usage)
            #expect(error?.problem.contains("cannot be combined with") == true)
        }
    }

    @Test func `the command line overrides the file, and the file overrides the environment`() throws {
        let file = try requestFile(#"{"server":"file","key-id":"FILE","priority":5}"#)
        let environment = ["POSTHORN_SERVER": "env", "POSTHORN_KEY": "env.p8", "POSTHORN_TEAM_ID": ""]
        let options = try options(["--server", "line"], file: file, environment: environment)
        #expect(options.value("server") == "line")
        #expect(options.value("key-id") == "FILE")
        #expect(options.value("priority") == "5")
        #expect(options.value("key") == "env.p8")
        #expect(options.value("team-id") == nil)
        #expect(
            thrown { () throws(CommandError) in _ = try options.required("token") }?.problem
                == "missing option: --token")
    }

    @Test func `a key's file name overrides the environment's key ID`() throws {
        let environment = ["POSTHORN_KEY_ID": "ENV1234567"]
        #expect(try options([], environment: environment).keyID(keyFile: "AuthKey_ABC1234567.p8") == "ABC1234567")
        #expect(try options([], environment: environment).keyID(keyFile: "key.p8") == "ENV1234567")
        #expect(try options(["--key-id", "X"]).keyID(keyFile: "AuthKey_ABC1234567.p8") == "X")
    }

    @Test(arguments: [
        ("[]", "not a JSON object"), ("{", "not a JSON object"), ("", "not a JSON object"),
        (#"{"titel":"x"}"#, "unknown option 'titel'"),
        (#"{"payload":"x"}"#, "'payload' is not an object"), (#"{"badge":1.5}"#, "neither a string nor a whole number"),
        (#"{"title":null}"#, "neither a string nor a whole number"), (#"{"file":"x"}"#, "unknown option 'file'"),
    ])
    func `an invalid request file is refused with its path`(json: String, problem: String) {
        let error = thrown { () throws(CommandError) in
            _ = try RequestFile(Array(json.utf8), path: "request.json")
        }
        #expect(error?.problem.hasPrefix("request.json: ") == true && error?.problem.contains(problem) == true)
        #expect(error?.exitCode == .refused)
        if json.contains("titel") { #expect(error?.remedy.hasPrefix("Did you mean 'title'?") == true) }
    }

    @Test(arguments: [
        (nil, nil), ("0", "0"), ("1700000000", "1700000000"), ("+60", "1060"), ("+0", "1000"), ("soon", "soon"),
    ])
    func `an expiration may be relative to now`(text: String?, sent: String?) throws {
        let options = try options(text.map { ["--expiration", $0] } ?? [])
        #expect(try options.expiration(now: Timestamp(unixSeconds: 1000)) == sent)
    }

    @Test(arguments: ["+", "+x", "+9223372036854775807", "+99999999999999999999"])
    func `a relative expiration needs a number that fits`(text: String) throws {
        let options = try options(["--expiration", text])
        let error = thrown { () throws(CommandError) in _ = try options.expiration(now: Timestamp(unixSeconds: 1000)) }
        #expect(error?.exitCode == .usage)
    }

    private func request(_ words: [String], server: String = "https://a:1/") throws -> NotificationRequest {
        try NotificationRequest(
            options(["-t", "org.example.Mail", "-d", "00ff", "--badge", "1"] + words), server: server,
            caFile: "/ca.pem",
            providerToken: "a.b.c", now: Timestamp(unixSeconds: 1000))
    }

    @Test func `a request has the headers of an APNs client`() throws {
        let words = ["--priority", "5", "--expiration", "+1", "--collapse-id", "c", "--id", "u", "--push-type", "voip"]
        let message = try request(words).httpRequest
        #expect(message.method == "POST" && message.url == "https://a:1/3/device/00ff")
        #expect(message.requiresHTTP2 && message.caFile == "/ca.pem")
        #expect(
            message.fields.map { "\($0.0): \($0.1)" } == [
                "authorization: bearer a.b.c", "apns-topic: org.example.Mail", "apns-push-type: voip",
                "apns-priority: 5", "apns-expiration: 1001", "apns-collapse-id: c", "apns-id: u", "posthorn-lint: 1",
            ])
        #expect(message.body == Array(#"{"aps":{"badge":1}}"#.utf8))
    }

    @Test(arguments: [
        ([], ["apns-push-type: alert"]),
        (["--push-type", "background"], ["apns-push-type: background", "apns-priority: 5"]),
        (["--push-type", "background", "--priority", "10"], ["apns-push-type: background", "apns-priority: 10"]),
    ])
    func `a background push has priority 5 unless another is given`(words: [String], fields: [String]) throws {
        #expect(try request(words).fields.dropFirst(2).map { "\($0.0): \($0.1)" } == fields + ["posthorn-lint: 1"])
    }

    @Test(arguments: [
        ("push.example.org:2197", "https://push.example.org:2197/3/device/00ff"),
        ("https://push.example.org/", "https://push.example.org/3/device/00ff"),
        ("http://localhost:1", "http://localhost:1/3/device/00ff"),
    ])
    func `a server may be given without scheme and with a slash`(server: String, url: String) throws {
        #expect(try request([], server: server).httpRequest.url == url)
    }

    @Test func `a device token cannot change other parts of the path`() throws {
        let options = try options(["-t", "t", "-d", "../x?y", "--title", "t"])
        let request = try NotificationRequest(
            options, server: "https://a", caFile: nil, providerToken: "", now: .unixEpoch)
        #expect(request.httpRequest.url == "https://a/3/device/..%2Fx%3Fy")
    }

    private func broadcast(_ words: [String]) throws -> NotificationRequest {
        try NotificationRequest(
            options(["-t", "org.example.News", "--channel", "dHN0LXNyY2gtY2hubA==", "--title", "x"] + words),
            server: "https://a:1", caFile: nil, providerToken: "a.b.c", now: Timestamp(unixSeconds: 1000))
    }

    @Test(arguments: [
        ([], ["apns-push-type: liveactivity", "apns-priority: 10", "apns-expiration: 0"]),
        (
            ["--priority", "5", "--expiration", "+60", "--id", "u"],
            ["apns-push-type: liveactivity", "apns-priority: 5", "apns-expiration: 1060", "apns-request-id: u"]
        ),
        (["--push-type", "alert"], ["apns-push-type: alert", "apns-priority: 10", "apns-expiration: 0"]),
    ])
    func `a broadcast uses its app's path and has all required fields`(words: [String], fields: [String]) throws {
        let message = try broadcast(words).httpRequest
        #expect(message.url == "https://a:1/4/broadcasts/apps/org.example.News")
        #expect(message.requiresHTTP2 && message.method == "POST")
        #expect(
            message.fields.map { "\($0.0): \($0.1)" }
                == ["authorization: bearer a.b.c", "apns-channel-id: dHN0LXNyY2gtY2hubA=="] + fields
                + ["posthorn-lint: 1"])
    }

    @Test func `a topic cannot change other parts of a broadcast's path`() throws {
        let options = try options(["-t", "../x?y", "--channel", "c", "--title", "t"])
        let request = try NotificationRequest(
            options, server: "https://a", caFile: nil, providerToken: "", now: .unixEpoch)
        #expect(request.httpRequest.url == "https://a/4/broadcasts/apps/..%2Fx%3Fy")
    }

    @Test(arguments: [
        ([], "missing option: --token or --channel"),
        (["--token", "t", "--channel", "c"], "--token and --channel cannot be combined"),
        (["--channel", "c", "--collapse-id", "x"], "--channel and --collapse-id cannot be combined"),
    ])
    func `an invalid destination is refused`(words: [String], problem: String) throws {
        let options = try options(words)
        let error = thrown { () throws(CommandError) in _ = try SendDestination(options) }
        #expect(error?.exitCode == .usage)
        #expect(error?.problem.hasPrefix(problem) == true, "\(error?.problem ?? "taken")")
    }

    @Test func `a destination may come from the request file`() throws {
        #expect(try SendDestination(options([], file: requestFile(#"{"channel":"c"}"#))) == .channel(id: "c"))
        #expect(
            try SendDestination(options(["--collapse-id", "x"], file: requestFile(#"{"token":"t"}"#)))
                == .device(token: "t"))
    }
}
