// SPDX-License-Identifier: Apache-2.0

/// The description of the agent's object that `Introspect` returns.
///
/// `make pages` generates this file from deploy/dbus/org.posthorn.Agent1.xml.
package enum AgentIntrospection {
    /// The introspection data of the agent's object, in XML.
    package static let xml: StaticString = #"""
        <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
         "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
        <!-- SPDX-License-Identifier: Apache-2.0 -->
        <node>
          <!-- The device agent: bus name `org.posthorn.Agent1`, object `/org/posthorn/Agent1`, session bus.

               The user's tools can call every method. They are `posthorn` and `posthorn-panel` in the directory of
               the agent's own program. Every other program counts as an app. An app can call `Register`,
               `Unregister`, `Subscribe`, `Unsubscribe`, `GetSetting` and `ListSettings` for its own app ID, and
               `GetStatus` and `GetBadges`. An app ID is a program's own if the program holds that bus name, or if
               the `Exec` line of that `.desktop` file starts it. In a Flatpak, it is the Flatpak's ID and the IDs
               below it. All other calls fail with `org.posthorn.Error.NotYours`.

               A call fails with `org.posthorn.Error.LimitsExceeded` in three cases:

               - The program calls too often: the limit is 500 calls at once, then 100 a second.
               - It has too many calls waiting: the limit is 16, and 256 for all programs together.
               - The arguments are larger than 128 KiB.

               A call that changes something fails with `org.posthorn.Error.StorageFailed` if the disk of the agent's state
               directory is full or cannot be written.

               Error names below that begin with a dot continue `org.posthorn.Error`. In a dictionary, the letter
               after a key is the type of its value. -->
          <interface name="org.posthorn.Agent1">
            <!-- Enrols this device with a server. `code` is the code that `posthorn enrol` printed, or empty if
                 the server allows enrolment without a code. `ca_file` is the authority's PEM file; if empty, the
                 agent trusts the authority that the code names, or else the system's authorities. Errors:
                 `.AlreadyEnrolled`, `.BadEnrolmentCode`, `.BadServer`, `.Unreachable`, `.NotTrusted` (the server's
                 certificate), `.BadFile` (`ca_file`, or `client_cert` or `client_key` of `agent.ini`). -->
            <method name="Enrol">
              <arg name="server_url" type="s" direction="in"/>
              <arg name="code" type="s" direction="in"/>
              <arg name="ca_file" type="s" direction="in"/>
              <arg name="device_id" type="s" direction="out"/>
            </method>
            <!-- Leaves the server. All device tokens of this device become `Unregistered`, and the badges
                 disappear. -->
            <method name="Unenrol"/>
            <!-- Forgets the server without notifying it. Use it for a server that no longer exists. Error:
                 `.NotEnrolled`. -->
            <method name="Forget"/>
            <!-- Connects to the server of the enrolment, and returns the CA certificates that it presents, without
                 trusting them or sending it anything:

                 - `subject` s: the subject of the certificate
                 - `code` s: the code for `Trust`
                 - `expires` x: the end of its validity, in UNIX seconds
                 - `trusted` b: whether this device trusts the certificate as an authority

                 Errors: `.NotEnrolled`, `.Unreachable`. -->
            <method name="ListAuthorities">
              <arg name="authorities" type="aa{sv}" direction="out"/>
            </method>
            <!-- Trusts another authority for the server of the enrolment, and keeps the enrolment with all device tokens.
                 Use it for a device that was away while the server announced the authority. `code` is the authority's code,
                 which `posthorn authority list` prints on the server; `ca_file` is a PEM file of authorities, used if `code`
                 is empty. Errors: `.NotEnrolled`, `.InvalidArguments`, `.BadFile`, `.Unreachable`, `.NotTrusted` (the server
                 does not present the authority), `.DeviceRemoved` (the server does not know this device). -->
            <method name="Trust">
              <arg name="code" type="s" direction="in"/>
              <arg name="ca_file" type="s" direction="in"/>
            </method>
            <!-- Returns the state of the agent:

                 - `version` s, `pid` u
                 - `enrolled` b, `server_url` s, `device_id` s
                 - `removed` b: whether the server no longer knows this device; call `Unenrol` then
                 - `connected` b, `connected_since` x, `last_connected` x: times in UNIX seconds
                 - `next_try` x: the time of the next attempt to connect, or to enrol by `agent.ini`, in UNIX
                   seconds; 0 if none is scheduled
                 - `problem` s: the kind of the connection's problem, empty for none. `unreachable`: nothing answers.
                   `wrong-server`: the certificate is from an authority that this device does not trust, so it is not the
                   server of the enrolment. `certificate`: it expired, has another name, or TLS failed in another way.
                   `configuration`: a setting of `agent.ini` cannot be used. `storage`: the disk is full or cannot be
                   written. `secret-lost`: the file with the device secret is missing. `enrolment-code`: the server
                   refused the code of `agent.ini`. `removed`: the server removed this device. `server`: the server
                   answered with an error, or ended the stream.
                 - `last_error` s: the error in English, for details and logs
                 - `notice` s: other news for the user, such as a channel that the server ended; empty for none
                 - `presenter` s: what shows alerts now: `desktop`, `panel`, `desktop, panel`, `terminal`, `hooks:`
                   and the names of up to five hooks, or `none`. The panel shows only alerts of the style `alert`,
                   and only where it runs or can be started. -->
            <method name="GetStatus">
              <arg name="status" type="a{sv}" direction="out"/>
            </method>
            <!-- Returns the number on each app's icon, by app ID, without apps that have no badge. `BadgeChanged`
                 reports changes. -->
            <method name="GetBadges">
              <arg name="badges" type="a{su}" direction="out"/>
            </method>
            <!-- Registers an app and returns its device token. Options:

                 - `topic` s: the app ID by default
                 - `name` s: the name at the top of the app's alerts. Default: the `Name` of the `.desktop` file, or
                   else the manifest's, or else the app ID
                 - `environment` s: `production`, the default, or `development`
                 - `manifest` s: the app manifest as JSON (docs/reference/app-manifest.md); the installed file by
                   default

                 An app that registers itself has three restrictions. Its topic is its app ID, a topic below it, or
                 the topic of its installed manifest. The manifest that it passes in `manifest` cannot name a
                 program as a filter; only its installed manifest can. In a Flatpak the same applies to
                 `picture_hosts`. It cannot replace the name in its `.desktop` file, in its installed manifest, or
                 from the user; without these, its name is unverified. The token is valid only in this environment;
                 registering for the other one returns another token. The token stays the same for as long as the
                 server keeps the registration. `TokenChanged` announces a new token. Errors: `.NotEnrolled`, `.DeviceRemoved` (the server no longer knows this device),
                 `.UnknownTopic`, `.Unreachable`, `.BadAppID`, `.BadTopic`, `.BadEnvironment`, `.BadManifest`,
                 `.TooMany` for the thousand and first app. -->
            <method name="Register">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="options" type="a{sv}" direction="in"/>
              <arg name="device_token" type="s" direction="out"/>
            </method>
            <!-- Unregisters an app. Its device token becomes `Unregistered`, and its
                 entries and settings are removed. Errors: `.UnknownApp`, `.Unreachable`. -->
            <method name="Unregister">
              <arg name="app_id" type="s" direction="in"/>
            </method>
            <!-- Subscribes a registered app to a broadcast channel of its environment. Returns `active` if the
                 server has stored the subscription. Returns `pending` if the agent keeps the subscription until it
                 reaches the server, also across a restart. Errors: `.UnknownApp`, `.BadChannelID`,
                 `.UnknownChannel`, `.TooMany`, `.Refused`. -->
            <method name="Subscribe">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="channel_id" type="s" direction="in"/>
              <arg name="state" type="s" direction="out"/>
            </method>
            <!-- Ends a subscription. From now on, no broadcast of the channel is shown. The agent notifies the
                 server as soon as it reaches it. Errors: `.BadChannelID`, `.UnknownChannel`. -->
            <method name="Unsubscribe">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="channel_id" type="s" direction="in"/>
            </method>
            <!-- Returns the registered apps. Each app has these keys:

                 - `app_id` s, `topic` s, `name` s, `environment` s
                 - `icon` s: a name or an absolute path; empty for none
                 - `device_token` s: empty until the server has assigned one
                 - `badge` u
                 - `event_types` aa{sv}: each with `id` s and `name` s, in the app's order
                 - `allows_badge` b, `allows_sound` b, `allows_alert` b
                 - `alert_style` s: `none`, `banner` or `alert`
                 - `quiet_exceptions` as: `time-sensitive` and `critical`, each if the setting is on
                 - `locked` as: the settings of the app as a whole that the administrator locked
                 - `channels` as: the IDs of the channels that the app has subscribed to
                 - `pending_channels` as: those of them that the server does not know yet
                 - `advice` as: hints for the app's developer
                 - `verified` b: whether `name` is from the `.desktop` file, from an installed manifest or from the
                   user; if not, the app gave itself this name
                 - `offers` as: `time-sensitive` if Do Not Disturb held back a time-sensitive notification of the
                   app, and the user has not decided about that setting; otherwise empty
                 - `can_have_pictures` b: whether the app names hosts of pictures or has a filter
                 - `muted_until` x: the time until which the app is muted, in UNIX seconds; 0 if it is not muted -->
            <method name="ListApps">
              <arg name="apps" type="aa{sv}" direction="out"/>
            </method>
            <!-- Returns the effective value of every setting: of the device if `app_id` is empty, otherwise of the
                 app and of its event types. docs/reference/settings.md lists the names and values. Error:
                 `.UnknownApp`. Each setting has these keys:

                 - `event` s: empty for the app as a whole
                 - `name` s, `value` s
                 - `locked` b: whether the administrator locked the setting, so that it cannot be changed here
                 - `origin` s: `standard` for the default, `person` for the user's choice, `administrator` for a
                   policy -->
            <method name="ListSettings">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="settings" type="aa{sv}" direction="out"/>
            </method>
            <!-- Returns the effective value of one setting. Errors: `.UnknownApp`, `.UnknownEvent`,
                 `.UnknownSetting`. -->
            <method name="GetSetting">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="event" type="s" direction="in"/>
              <arg name="name" type="s" direction="in"/>
              <arg name="value" type="s" direction="out"/>
              <arg name="locked" type="b" direction="out"/>
            </method>
            <!-- Changes one setting, immediately and permanently. An empty value resets it to the default. For
                 an app's `alert`, `off` means `none`, and `on` restores the style that the app had before; a
                 switch uses these two. Errors: `.UnknownApp`, `.UnknownEvent`, `.UnknownSetting`, `.BadValue`,
                 `.Locked`. -->
            <method name="SetSetting">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="event" type="s" direction="in"/>
              <arg name="name" type="s" direction="in"/>
              <arg name="value" type="s" direction="in"/>
            </method>
            <!-- Returns the sounds that an app can name: its own first, then the built-in ones. If `app_id` is
                 empty, returns only the built-in ones. Each sound has `name` s and `origin` s (`app` or
                 `built-in`). Error: `.UnknownApp`. -->
            <method name="ListSounds">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="sounds" type="aa{sv}" direction="out"/>
            </method>
            <!-- Checks a sound file and copies it to the app's sounds. Returns the name of the sound. The file
                 must be Ogg Vorbis or WAV, at most 30 s long, not clipped, and not identical to a sound of
                 another app. If `name` is empty, the name comes from the file name. Errors: `.UnknownApp`,
                 `.BadSound`. -->
            <method name="InstallSound">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="path" type="s" direction="in"/>
              <arg name="name" type="s" direction="in"/>
              <arg name="installed" type="s" direction="out"/>
            </method>
            <!-- Removes one of the app's sounds. Errors: `.UnknownApp`, `.UnknownSound`. -->
            <method name="RemoveSound">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="name" type="s" direction="in"/>
            </method>
            <!-- Plays a sound as a notification of the app would; the default sound if `name` is empty. Errors:
                 `.UnknownApp`, `.UnknownSound`. -->
            <method name="PlaySound">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="name" type="s" direction="in"/>
            </method>
            <!-- Returns the newest entries of the inbox, newest first. Each entry has these keys:

                 - `entry` x: the number of the entry
                 - `id` s: the unique ID of the notification
                 - `app_id` s, `app_name` s, `received_at` x (UNIX milliseconds)
                 - `title` s, `body` s, `payload` s
                 - `state` s: `waiting`, `shown`, `viewed`, `closed` or `suppressed`
                 - `effects` as: the result for each part, for example `badge` or `sound:silent`
                 - `read` b: whether the user has seen it
                 - `reason` s: why the notification was suppressed, or an error. If the app or the link could not be
                   opened: `app-not-installed`, `app-damaged`, `needs-terminal`, `app-not-started` or
                   `link-not-opened`, a colon, and details.
                 - `channel` s: the channel ID of a broadcast; empty otherwise
                 - `thread_id` s
                 - `verified` b: whether `app_name` is verified, as in `ListApps`
                 - `offer` s: `time-sensitive` on the first notification of the app that Do Not Disturb held back
                   although it is time-sensitive, for as long as the user has not decided about that setting;
                   otherwise empty
                 - `remind_at` x: when the notification is shown again, in UNIX seconds; 0 without a reminder
                 - `url` s: the address that View opens; empty if View opens the app or nothing
                 - `picture` s: the absolute path of a PNG file that the agent made and that is safe to show; empty
                   for none
                 - `ignored` as: members of the payload that the agent ignored, each with a colon and the reason -->
            <method name="ListInbox">
              <arg name="limit" type="u" direction="in"/>
              <arg name="entries" type="aa{sv}" direction="out"/>
            </method>
            <!-- Returns matching entries of the inbox, with the keys of `ListInbox`, newest first. Error:
                 `.BadValue`.

                 - `text`: words that must all occur in the entry's texts or in the app's name, in upper or lower
                   case; may be empty
                 - `app_id`: only entries of this app; empty for all apps
                 - `kind`: empty for all entries, `unread` for the unread ones, `suppressed` for
                   those that were not shown
                 - `before`: the last entry of the previous page; 0 for the first page
                 - `limit`: at most 1000 -->
            <method name="SearchInbox">
              <arg name="text" type="s" direction="in"/>
              <arg name="app_id" type="s" direction="in"/>
              <arg name="kind" type="s" direction="in"/>
              <arg name="before" type="x" direction="in"/>
              <arg name="limit" type="u" direction="in"/>
              <arg name="entries" type="aa{sv}" direction="out"/>
            </method>
            <!-- Returns the numbers of all entries that `SearchInbox` finds with `text` and `kind`, newest first,
                 as one `ax` for each app ID. The app ID is empty for entries of no app. Error: `.BadValue`. -->
            <method name="FindInbox">
              <arg name="text" type="s" direction="in"/>
              <arg name="kind" type="s" direction="in"/>
              <arg name="entries_by_app" type="a{sv}" direction="out"/>
            </method>
            <!-- Returns the number of unread entries, in total and as one `u` for each app
                 ID. -->
            <method name="CountInbox">
              <arg name="unread" type="u" direction="out"/>
              <arg name="unread_by_app" type="a{sv}" direction="out"/>
            </method>
            <!-- Marks an entry as read. If `entry` is 0, marks all entries of the app, or of all apps if `app_id`
                 is empty. Returns the number of entries that were unread before. Error: `.UnknownEntry`. -->
            <method name="MarkRead">
              <arg name="entry" type="x" direction="in"/>
              <arg name="app_id" type="s" direction="in"/>
              <arg name="count" type="u" direction="out"/>
            </method>
            <!-- Marks these entries as read, and skips those that no longer exist. Returns the number of entries
                 that were unread before. -->
            <method name="MarkEntriesRead">
              <arg name="entries" type="ax" direction="in"/>
              <arg name="count" type="u" direction="out"/>
            </method>
            <!-- Removes one entry, and its alert from the screen. Error: `.UnknownEntry`. -->
            <method name="RemoveInboxEntry">
              <arg name="entry" type="x" direction="in"/>
            </method>
            <!-- Removes these entries and their alerts from the screen, and skips those that no longer exist.
                 Returns the number of removed entries. -->
            <method name="RemoveInboxEntries">
              <arg name="entries" type="ax" direction="in"/>
              <arg name="count" type="u" direction="out"/>
            </method>
            <!-- Returns one entry, with the keys of `ListInbox`. Error: `.UnknownEntry`. -->
            <method name="GetInboxEntry">
              <arg name="entry" type="x" direction="in"/>
              <arg name="details" type="a{sv}" direction="out"/>
            </method>
            <!-- Removes all entries of an app, or of all apps if `app_id` is empty, and their alerts from the
                 screen. Returns the number of removed entries. -->
            <method name="ClearInbox">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="count" type="u" direction="out"/>
            </method>
            <!-- Closes an alert, or marks the entry as read, and shows the notification again at `at` (UNIX
                 seconds, in the future and at most 366 days away), even if it was answered before. It is shown
                 once, as the settings say at that time, and is then unread. 0 cancels the reminder. An entry
                 has one reminder, and a later call replaces it. Errors: `.UnknownEntry`, `.UnknownApp`,
                 `.BadValue` for a bad time or a notification without an alert, `.TooMany` for the hundred and
                 first reminder. -->
            <method name="RemindEntry">
              <arg name="entry" type="x" direction="in"/>
              <arg name="at" type="x" direction="in"/>
            </method>
            <!-- Returns the alerts that wait for an answer in the panel, oldest first. An alert that replaced
                 another one with the same collapse ID takes its position. Alerts of one app with the same texts
                 and buttons appear once, and the answer applies to all of them. Each alert has these keys:

                 - `entry` x, `app_id` s, `app_name` s, `received_at` x (UNIX milliseconds)
                 - `icon` s: a name or an absolute path; empty for none
                 - `title` s, `subtitle` s, `body` s: empty for none; hidden while the screen is locked, unless the
                   app's setting `preview` is on
                 - `view_label` s: the label of View; if empty, the alert has a single button, OK
                 - `actions` aa{sv}: the app's own buttons, which replace View if there are any; each with `id` s,
                   `title` s and `takes_text` b
                 - `earlier` u: the number of earlier, unanswered alerts of the same thread
                 - `verified` b: whether `app_name` is verified, as in `ListApps`
                 - `url` s: the address that View opens; empty if View opens the app, if there is no View, and while
                   texts are hidden
                 - `picture` s: the absolute path of a PNG file that is safe to show; empty for none and while texts
                   are hidden -->
            <method name="ListAlerts">
              <arg name="alerts" type="aa{sv}" direction="out"/>
            </method>
            <!-- Reports the user's answer to an alert. `answer` is `view`, `close` or `action`. For `action`,
                 `action` is the ID of the button, and `text` is the reply, at most 16 KiB; empty for none.
                 `activation_token` allows the app to bring its window to the front; empty for none. An alert that
                 a newer one has replaced can still be answered. Errors: `.UnknownEntry` (the alert no longer
                 waits), `.BadValue`. -->
            <method name="AnswerAlert">
              <arg name="entry" type="x" direction="in"/>
              <arg name="answer" type="s" direction="in"/>
              <arg name="action" type="s" direction="in"/>
              <arg name="text" type="s" direction="in"/>
              <arg name="activation_token" type="s" direction="in"/>
            </method>
            <!-- Opens the app with a notification of the inbox, or its link, as View does, and marks the entry as
                 read. Errors: `.UnknownEntry`, `.LinkNotOpened`, `.AppNotInstalled`, `.AppDamaged` (its `.desktop` file is invalid),
                 `.NeedsTerminal` (the app needs a terminal, and this device has no program that opens one),
                 `.NotOpened`. -->
            <method name="OpenEntry">
              <arg name="entry" type="x" direction="in"/>
              <arg name="activation_token" type="s" direction="in"/>
            </method>
            <!-- Opens an app without a notification. Errors: `.UnknownApp`, and those of `OpenEntry` except
                 `.UnknownEntry`. -->
            <method name="OpenApp">
              <arg name="app_id" type="s" direction="in"/>
              <arg name="activation_token" type="s" direction="in"/>
            </method>
            <!-- The app has a new device token, which it must send to its back-end. Every program on the bus
                 receives this signal, so it does not contain the token. Call `Register` to get it. -->
            <signal name="TokenChanged">
              <arg name="app_id" type="s"/>
            </signal>
            <!-- The number on the app's icon is now `count`; 0 for no badge. -->
            <signal name="BadgeChanged">
              <arg name="app_id" type="s"/>
              <arg name="count" type="u"/>
            </signal>
            <!-- A setting, a registration or a subscription of the app changed; an empty `app_id` stands for the
                 settings of the device. -->
            <signal name="SettingsChanged">
              <arg name="app_id" type="s"/>
            </signal>
            <!-- The server ended or rejected a subscription, which no longer exists. `reason` is the server's
                 error, for example `UnknownChannel`. -->
            <signal name="SubscriptionEnded">
              <arg name="app_id" type="s"/>
              <arg name="channel_id" type="s"/>
              <arg name="reason" type="s"/>
            </signal>
            <!-- A notification arrived and is in the inbox, even if it is not shown. -->
            <signal name="NotificationArrived">
              <arg name="entry" type="x"/>
            </signal>
            <!-- The inbox changed: entries were added, removed or changed. -->
            <signal name="InboxChanged"/>
            <!-- The result of `ListAlerts` changed. -->
            <signal name="AlertsChanged"/>
            <!-- The result of `GetStatus` changed: the connection opened or closed, or there is another error or
                 notice. -->
            <signal name="StatusChanged"/>
          </interface>
        </node>

        """#
}
