// SPDX-License-Identifier: Apache-2.0

/// The description of the agent's object that `Introspect` answers.
///
/// The text of deploy/dbus/org.posthorn.Agent1.xml, from which `make pages` makes this file.
package enum AgentIntrospection {
    /// The introspection data of the agent's object, in XML.
    package static let xml: StaticString = #"""
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
        <!-- SPDX-License-Identifier: Apache-2.0 -->
        <node>
          <!-- The device agent. Bus name org.posthorn.Agent1, object /org/posthorn/Agent1, session bus.

               The person's tools, posthorn and posthorn-panel beside the agent's own program, may call everything. Any other program
               is an app: it may call Register, Unregister, Subscribe, Unsubscribe, GetSetting and ListSettings for an app id of its
               own, and GetStatus and GetBadges. An app id is its own when it holds that bus name, or when the Exec line of that .desktop file
               starts it; in a Flatpak, the Flatpak's id and those below it. Everything else is org.posthorn.Error.NotYours. A program that
               calls too often (500 at once, then 100 a second), has too many calls waiting (16; 256 of all callers), or sends more than
               128 KiB of arguments, is answered org.posthorn.Error.LimitsExceeded. -->
          <interface name="org.posthorn.Agent1">
            <!-- Enrols this device with a server. code is as posthorn enrol printed it, or empty where the server allows
                 open enrolment; ca_file is empty for the authority that the code names, or the system's. Errors: org.posthorn.Error.AlreadyEnrolled, .BadEnrolmentCode, .BadServer,
                 .Unreachable, .NotTrusted (its certificate), .BadFile (ca_file, or client_cert or client_key of agent.ini). -->
            <method name="Enrol">
              <arg name="server_url" type="s" direction="in"/>
              <arg name="code" type="s" direction="in"/>
              <arg name="ca_file" type="s" direction="in"/>
              <arg name="device_id" type="s" direction="out"/>
            </method>
            <!-- Leaves the server: every device token of this device becomes Unregistered, and the numbers on icons go. -->
            <method name="Unenrol"/>
            <!-- Forgets the server without telling it, for one that is gone for good. Error: .NotEnrolled. -->
            <method name="Forget"/>
            <!-- Keys: version s, enrolled b, removed b (the server does not know this device any more: leave it), server_url s, device_id s, connected b, connected_since x, last_connected x
                 (UNIX seconds), next_try x (UNIX seconds; when it connects, or enrols by agent.ini, again; 0 while it waits for nothing), last_error s, notice s (what else a person should know, such as a channel that the server
                 ended; empty for nothing), presenter s (what shows alerts now: desktop, panel, both as 'desktop, panel',
                 terminal, 'hooks: ' and the names of up to five, or none; the panel shows those of style alert, where it runs or can be started), pid u. -->
            <method name="GetStatus">
              <arg name="status" type="a{sv}" direction="out"/>
            </method>
            <!-- The numbers on icons by app id, without the apps that have none: what BadgeChanged told. -->
            <method name="GetBadges">
              <arg name="badges" type="a{su}" direction="out"/>
            </method>
            <!-- Registers an app. An app that calls for itself takes its app id or a topic below it, or the one of its installed
                 manifest, and its manifest names no program as filter. Options: topic s (the app id when absent), name s (the .desktop file's Name when absent),
                 environment s (production or development; production when absent), manifest s (JSON: what the app says of
                 itself, docs/reference/app-manifest.md; its installed file when absent). Answers the device token, which is good
                 in this environment only: registering for the other one makes another. The token stays as long as the server
                 keeps the registration; TokenChanged tells of a new one. Errors: .NotEnrolled, .DeviceRemoved (the server does not know this device any
                 more), .UnknownTopic, .Unreachable,
                 .BadAppID, .BadTopic, .BadEnvironment, .BadManifest. -->
            <method name="Register">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="options" type="a{sv}" direction="in"/>
              <arg name="device_token" type="s" direction="out"/>
            </method>
            <!-- Unregisters an app: its device token becomes Unregistered. Errors: .UnknownApp, .Unreachable. -->
            <method name="Unregister">
              <arg name="app_id" type="s" direction="in"/>
            </method>
            <!-- Subscribes a registered app to a broadcast channel of its environment. Answers active when the server has the
                 subscription, pending when it is kept here until the server can be told, after a restart as well. Errors:
                 .UnknownApp, .BadChannelID, .UnknownChannel, .TooMany, .Refused. -->
            <method name="Subscribe">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="channel_id" type="s" direction="in"/>
              <arg name="state" type="s" direction="out"/>
            </method>
            <!-- Ends a subscription: nothing of the channel is shown from now on, and the server is told when it can be.
                 Errors: .BadChannelID, .UnknownChannel. -->
            <method name="Unsubscribe">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="channel_id" type="s" direction="in"/>
            </method>
            <!-- Each: app_id s, topic s, name s, icon s (name or absolute path, empty for none), device_token s (empty while the server is
                 still to give one), badge u, event_types aa{sv} (each id s, name s; in the app's order),
                 allows_badge b, allows_sound b, allows_alert b, alert_style s (none, banner, alert), environment s,
                 channels as (channel ids that the app subscribed to), pending_channels as (those of them that the server does
                 not have yet), advice as (what its author should think about). -->
            <method name="ListApps">
              <arg name="apps" type="aa{sv}" direction="out"/>
            </method>
            <!-- What holds of every setting: of the person when app_id is empty, else of the app and of the event types that it
                 declared. Each: event s (empty for the app as a whole), name s, value s, locked b (the administrator decided
                 it, and nobody here changes it), origin s (standard, person, administrator: who said so). docs/reference/settings.md lists names and values. Error: .UnknownApp. -->
            <method name="ListSettings">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="settings" type="aa{sv}" direction="out"/>
            </method>
            <!-- One of them. Errors: .UnknownApp, .UnknownEvent, .UnknownSetting. -->
            <method name="GetSetting">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="event" type="s" direction="in"/>
              <arg name="name" type="s" direction="in"/>
              <arg name="value" type="s" direction="out"/>
              <arg name="locked" type="b" direction="out"/>
            </method>
            <!-- Sets it, at once and for good; an empty value is what is standard. For an app's alert off is none, and on is the
                 style that it had before it was none: what a switch sets. Errors: .UnknownApp, .UnknownEvent, .UnknownSetting, .BadValue,
                 .Locked. -->
            <method name="SetSetting">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="event" type="s" direction="in"/>
              <arg name="name" type="s" direction="in"/>
              <arg name="value" type="s" direction="in"/>
            </method>
            <!-- The sounds that an app can name, its own first; the built-in ones alone when app_id is empty. Each: name s, origin s
                 (app or built-in). Error: .UnknownApp. -->
            <method name="ListSounds">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="sounds" type="aa{sv}" direction="out"/>
            </method>
            <!-- Checks a sound file (Ogg Vorbis or WAV, at most 30 s, not clipped, not another app's) and copies it among the app's sounds;
                 name is empty for that of the file. Answers the name. Errors: .UnknownApp, .BadSound. -->
            <method name="InstallSound">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="path" type="s" direction="in"/>
              <arg name="name" type="s" direction="in"/>
              <arg name="installed" type="s" direction="out"/>
            </method>
            <!-- Removes one of the app's sounds. Errors: .UnknownApp, .UnknownSound. -->
            <method name="RemoveSound">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="name" type="s" direction="in"/>
            </method>
            <!-- Plays a sound as a notification of the app would; the standard one when name is empty. Errors: .UnknownApp, .UnknownSound. -->
            <method name="PlaySound">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="name" type="s" direction="in"/>
            </method>
            <!-- Newest first. Each: entry x, id s, app_id s, app_name s, received_at x (UNIX ms), title s, body s, payload s,
                 state s (waiting, shown, viewed, closed, suppressed), effects as (what became of each part, as badge or
                 sound:silent), read b, reason s (why suppressed, or what went wrong; where the app did
                 not open, app-not-installed, app-damaged, needs-terminal or app-not-started, a colon, and more about it),
                 channel s (the channel id of a broadcast; empty for any other), thread_id s. -->
            <method name="ListInbox">
              <arg name="limit" type="u" direction="in"/>
              <arg name="entries" type="aa{sv}" direction="out"/>
            </method>
            <!-- The same of those entries in whose texts or app's name all words of text are, in any case. text and app_id may be
                 empty; kind is empty for all, unread for what the person has not seen, suppressed for what was not shown; before is the
                 last entry of the page before, 0 for the first page; limit is at most 1000. Error: .BadValue. -->
            <method name="SearchInbox">
              <arg name="text" type="s" direction="in"/>
              <arg name="app_id" type="s" direction="in"/>
              <arg name="kind" type="s" direction="in"/>
              <arg name="before" type="x" direction="in"/>
              <arg name="limit" type="u" direction="in"/>
              <arg name="entries" type="aa{sv}" direction="out"/>
            </method>
            <!-- Numbers of all entries that SearchInbox finds with text and kind: by app id, empty for those of no app (each ax), newest
                 first. Error: .BadValue. -->
            <method name="FindInbox">
              <arg name="text" type="s" direction="in"/>
              <arg name="kind" type="s" direction="in"/>
              <arg name="entries_by_app" type="a{sv}" direction="out"/>
            </method>
            <!-- How many entries the person has not seen: of all apps, and by app id (each u). -->
            <method name="CountInbox">
              <arg name="unread" type="u" direction="out"/>
              <arg name="unread_by_app" type="a{sv}" direction="out"/>
            </method>
            <!-- Notes that the person has seen an entry; 0 for all of the app, and of all apps where app_id is empty. Answers how many
                 were new. Error: .UnknownEntry. -->
            <method name="MarkRead">
              <arg name="entry" type="x" direction="in"/>
              <arg name="app_id" type="s" direction="in"/>
              <arg name="count" type="u" direction="out"/>
            </method>
            <!-- The same for those of these entries that are still there. -->
            <method name="MarkEntriesRead">
              <arg name="entries" type="ax" direction="in"/>
              <arg name="count" type="u" direction="out"/>
            </method>
            <!-- Removes one entry and takes its alert off the screen. Error: .UnknownEntry. -->
            <method name="RemoveInboxEntry">
              <arg name="entry" type="x" direction="in"/>
            </method>
            <!-- The same for those of these entries that are still there; answers how many. -->
            <method name="RemoveInboxEntries">
              <arg name="entries" type="ax" direction="in"/>
              <arg name="count" type="u" direction="out"/>
            </method>
            <!-- One entry, with the same keys. Error: .UnknownEntry. -->
            <method name="GetInboxEntry">
              <arg name="entry" type="x" direction="in"/>
              <arg name="details" type="a{sv}" direction="out"/>
            </method>
            <!-- Removes entries of an app (all apps when empty) and takes their alerts off the screen; answers how many. -->
            <method name="ClearInbox">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="count" type="u" direction="out"/>
            </method>
            <!-- Alerts that wait for an answer in the panel, oldest first; one that replaced another by its collapse id stands in its
                 place. Each: entry x, app_id s, app_name s, icon s (name or absolute path, empty for none), title s, subtitle s, body s
                 (empty for none, and hidden while the screen is locked where the person wants that), view_label s (empty: a single OK),
                 actions aa{sv} (each id s, title s, takes_text b; in the place of View when there are any), received_at x (UNIX ms),
                 earlier u (alerts of its thread that came before it and are unanswered). Those of one app with the same texts and
                 buttons are one here, and the answer is for all of them. -->
            <method name="ListAlerts">
              <arg name="alerts" type="aa{sv}" direction="out"/>
            </method>
            <!-- What the person did with one of them. answer is view, close or action; action is then a button's id and text what was
                 typed, at most 16 KiB, empty for nothing. activation_token lets the app's window come to the front; empty for none.
                 One that a newer one has replaced is answered as well. Errors: .UnknownEntry (it does not wait any more),
                 .BadValue. -->
            <method name="AnswerAlert">
              <arg name="entry" type="x" direction="in"/>
              <arg name="answer" type="s" direction="in"/>
              <arg name="action" type="s" direction="in"/>
              <arg name="text" type="s" direction="in"/>
              <arg name="activation_token" type="s" direction="in"/>
            </method>
            <!-- Opens the app with a notification of the inbox as View does, and notes that the person has seen it. Errors:
                 .UnknownEntry, .AppNotInstalled, .AppDamaged (its .desktop file cannot be used), .NeedsTerminal (nothing here opens
                 one), .NotOpened. -->
            <method name="OpenEntry">
              <arg name="entry" type="x" direction="in"/>
              <arg name="activation_token" type="s" direction="in"/>
            </method>
            <!-- Opens an app without a notification. Errors: .UnknownApp and, but for .UnknownEntry, those of OpenEntry. -->
            <method name="OpenApp">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="activation_token" type="s" direction="in"/>
            </method>
            <!-- The app has another device token: its back-end must hear of it. Everybody on the bus hears this, so that the token is not
                 in it: Register answers it. -->
            <signal name="TokenChanged">
              <arg name="app_id" type="s"/>
            </signal>
            <signal name="BadgeChanged">
              <arg name="app_id" type="s"/>
              <arg name="count" type="u"/>
            </signal>
            <signal name="SettingsChanged">
              <arg name="app_id" type="s"/>
            </signal>
            <!-- The server ended or refused a subscription, which is gone; reason is its word, for example UnknownChannel. -->
            <signal name="SubscriptionEnded">
              <arg name="app_id" type="s"/>
              <arg name="channel_id" type="s"/>
              <arg name="reason" type="s"/>
            </signal>
            <!-- A notification came and is in the inbox, even if it is not to be shown. -->
            <signal name="NotificationArrived">
              <arg name="entry" type="x"/>
            </signal>
            <signal name="InboxChanged"/>
            <!-- ListAlerts answers something else than before. -->
            <signal name="AlertsChanged"/>
            <!-- GetStatus answers something else than before: the connection opened or ended, or there is another error or notice. -->
            <signal name="StatusChanged"/>
          </interface>
        </node>

        """#
}
