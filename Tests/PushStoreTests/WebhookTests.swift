// SPDX-License-Identifier: Apache-2.0

import PushAPI
import PushCore
@testable import PushStore
import TestSupport
import Testing

@Suite(.bothEngines, .namesEngine) struct WebhookTests {
    private let topic: TopicName = "com.example.App"

    private func webhook(_ store: any RequestTarget) throws -> TraceAPI.Webhook? {
        guard case .app(let app) = try store.succeed(.control(.app(topic: topic))) else {
            throw MissingReply(what: "app")
        }
        return app.webhook
    }

    @Test func `a webhook gets events from the moment when it is set, also after the store reopens`() throws {
        let store = try StoreEngine.open()
        let (_, token) = try store.registeredDevice()
        try store.accept(.to(token, "before").identified(1))
        try store.succeed(.control(.setWebhook(topic: topic, url: "https://example.org/a", secret: [1, 2])))
        #expect(try webhook(store)?.url == "https://example.org/a" && webhook(store)?.secret == nil)
        let known = try webhookInDirectory(store)
        #expect(known.secret == [1, 2])
        try store.accept(.to(token, "after", expiration: 1).identified(2))
        let told = try store.trace(.app(topic: topic), after: known.position, isForWebhook: true)
        #expect(told.entries.map(\.text) == ["expired"] && told.entries.first?.origin?.uniqueID == .unique(2))
        let id = token.topic
        try store.succeed(.control(.advanceWebhook(id, to: told.next)))
        try store.succeed(.control(.advanceWebhook(id, to: 1)))
        try store.succeed(.control(.setWebhook(topic: topic, url: "https://example.org/b", secret: [3])))
        let after = try webhookInDirectory(store)
        #expect(after.position == told.next && after.url == "https://example.org/b" && after.secret == [3])
        try store.succeed(.control(.removeWebhook(topic: topic)))
        #expect(try webhook(store) == nil)
    }

    /// Returns the webhook in the directory that the loops receive at a start.
    private func webhookInDirectory(_ store: any RequestTarget) throws -> Webhook {
        guard let webhook = try store.firstDirectory().topics.values.compactMap(\.webhook).first else {
            throw MissingReply(what: "a webhook in the directory")
        }
        return webhook
    }

    @Test func `a webhook's problem has the time of the first failure, until a delivery succeeds`() throws {
        let store = try StoreEngine.open()
        let (_, token) = try store.registeredDevice()
        try store.succeed(.control(.setWebhook(topic: topic, url: "https://example.org/a", secret: [1])))
        try store.succeed(.control(.noteWebhookProblem(token.topic, "it answered 500")))
        store.clock.now += 60_000
        try store.succeed(.control(.noteWebhookProblem(token.topic, "it answered 502")))
        #expect(try webhook(store)?.failingSince == TestStore.start)
        #expect(try webhook(store)?.problem == "it answered 502")
        try store.succeed(.control(.advanceWebhook(token.topic, to: 1_000_000)))
        #expect(try webhook(store)?.failingSince == nil && webhook(store)?.problem == nil)
    }

    @Test func `an event has the device token of its registration, until there is a newer registration`() throws {
        let store = try StoreEngine.open()
        let (device, token) = try store.registeredDevice()
        try store.accept(.to(token, "a", expiration: 1).identified(1))
        func told() throws -> TraceEntry.Token? {
            try store.trace(.app(topic: topic), isForWebhook: true).entries.first?.token
        }
        #expect(try told()?.contents == token && told()?.environment == .production)
        try store.succeed(.device(.unregister(topic: topic), by: device.credential))
        #expect(try told()?.contents == token)
        let newer = try store.register(device, in: .development)
        #expect(newer.generation == token.generation + 1)
        #expect(try told() == nil)
    }

    @Test func `removing an app removes its webhook, and the number of webhooks is limited`() throws {
        let store = try StoreEngine.open()
        for number in 0...Limits.webhookCountMax {
            let topic = TopicName("com.example.App\(number)")
            try store.addApp(topic)
            let request = ControlRequest.setWebhook(topic: topic, url: "https://example.org/a", secret: [1])
            #expect(try store.refusal(.control(request)) == (number < Limits.webhookCountMax ? nil : .tooMany))
        }
        try store.succeed(.control(.removeApp(topic: "com.example.App0")))
        let last = TopicName("com.example.App\(Limits.webhookCountMax)")
        try store.succeed(.control(.setWebhook(topic: last, url: "https://example.org/a", secret: [1])))
        #expect(
            try store.refusal(.control(.setWebhook(topic: "no.such", url: "https://a", secret: [1]))) == .unknownTopic)
        #expect(try store.refusal(.control(.removeWebhook(topic: "no.such"))) == .unknownTopic)
    }
}
