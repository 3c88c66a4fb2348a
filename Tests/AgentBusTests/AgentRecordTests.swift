// SPDX-License-Identifier: Apache-2.0

@testable import AgentBus
import PushCore
import PushDBus
import Testing

/// Checks that what the agent writes is what its clients read.
struct AgentRecordTests {
    @Test func `a status survives the way over the bus`() {
        var status = StatusRecord()
        status.version = "1.2.3"
        status.processID = 42
        status.isEnrolled = true
        status.serverURL = "https://push.example.org"
        status.deviceID = "00ab"
        status.isRemoved = true
        status.isConnected = true
        status.connectedSince = Timestamp(unixSeconds: 1)
        status.lastConnectedAt = Timestamp(unixSeconds: 2)
        status.nextTryAt = Timestamp(unixSeconds: 3)
        status.problem = .wrongServer
        status.lastError = "error"
        status.notice = "notice"
        status.presenter = "panel"
        #expect(StatusRecord(status.dictionary) == status)
    }

    @Test func `an app survives the way over the bus`() {
        var type = EventTypeRecord()
        (type.id, type.name) = ("NEWS", "News")
        var app = AppRecord()
        (app.appID, app.topic, app.name, app.environment) = ("org.example.Mail", "org.example", "Mail", "production")
        (app.icon, app.deviceToken, app.badge) = ("mail", "00ff", .max)
        app.eventTypes = [type]
        (app.allowsBadge, app.allowsSound, app.allowsAlert, app.alertStyle) = (true, true, true, "banner")
        (app.channels, app.pendingChannels, app.advice) = (["a", "b"], ["b"], ["hint"])
        (app.isVerified, app.offers, app.canHavePictures) = (true, ["time-sensitive"], true)
        app.mutedUntil = Timestamp(unixSeconds: 4)
        #expect(AppRecord(app.dictionary) == app)
    }

    @Test func `settings and sounds survive the way over the bus`() {
        var setting = SettingRecord()
        (setting.event, setting.name, setting.value, setting.isLocked) = ("NEWS", "alert", "none", true)
        setting.origin = "administrator"
        #expect(SettingRecord(setting.dictionary) == setting)
        var sound = SoundRecord()
        (sound.name, sound.origin) = ("bell", "app")
        #expect(SoundRecord(sound.dictionary) == sound)
    }

    @Test func `an inbox entry survives the way over the bus`() {
        var entry = InboxRecord()
        (entry.entry, entry.uniqueID, entry.appID, entry.appName) = (7, "id", "org.example.Mail", "Mail")
        entry.receivedAt = Timestamp(unixMilliseconds: 1)
        (entry.title, entry.body, entry.payload) = ("title", "body", "{}")
        (entry.state, entry.effects, entry.isRead, entry.reason) = ("shown", ["badge"], true, "reason")
        (entry.channel, entry.threadID) = ("channel", "thread")
        (entry.isVerified, entry.offer) = (true, "time-sensitive")
        #expect(InboxRecord(entry.dictionary) == entry)
    }

    @Test func `an alert survives the way over the bus`() {
        var action = AlertActionRecord()
        (action.id, action.title, action.takesText) = ("reply", "Reply", true)
        var alert = AlertRecord()
        (alert.entry, alert.appID, alert.appName, alert.icon) = (7, "org.example.Mail", "Mail", "mail")
        (alert.title, alert.subtitle, alert.body, alert.viewLabel) = ("title", "subtitle", "body", "View")
        (alert.actions, alert.receivedAt, alert.earlierCount) = ([action], Timestamp(unixMilliseconds: 5), 2)
        alert.isVerified = true
        #expect(AlertRecord(alert.dictionary) == alert)
    }

    @Test func `missing and mistyped keys read as empty`() {
        let wrong = BusValue.dictionary([("app_id", .variant(.bool(true))), ("badge", .variant(.text("many")))])
        #expect(AppRecord(wrong) == AppRecord())
        #expect(StatusRecord(.text("?")) == StatusRecord())
    }
}
