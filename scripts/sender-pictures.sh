#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Takes pictures of notifications from programs that support other services, as .pictures/sender-*.png. Only the URL and the token of
# each program are changed. The senders are curl with the examples of ntfy's documentation, curl with Gotify's form, Apprise,
# Prometheus with Alertmanager, and curl with the webhook in Grafana's documentation. Check the pictures by eye. The arguments select
# senders; without arguments, the script uses all. In addition to scripts/packages-test.txt, install prometheus and
# prometheus-alertmanager. The script installs Apprise from PyPI. POSTHORN_PROGRAMS is the directory of the programs.
set -eu
cd "$(dirname "$0")/.."
script=sender-pictures
. scripts/stage.sh
app=org.example.Alerts
environment=$root/.build/sender-environment

start_desktop() {
    export HOME="$files/home" XDG_RUNTIME_DIR="$files/run" XDG_CONFIG_HOME="$files/home/config" XDG_STATE_HOME="$files/home/state" \
        XDG_CACHE_HOME="$files/home/cache" XDG_DATA_HOME="$files/home/data" NO_AT_BRIDGE=1 GSETTINGS_BACKEND=memory
    unset WAYLAND_DISPLAY
    mkdir -p "$HOME" "$XDG_DATA_HOME/applications"
    mkdir -m 700 "$XDG_RUNTIME_DIR"
    Xvfb -displayfd 3 -screen 0 1280x800x24 -nolisten tcp -noreset 3>"$files/display" >"$files/Xvfb.log" 2>&1 &
    processes="$! $processes"
    wait_for "a display" test -s "$files/display"
    DISPLAY=:$(cat "$files/display")
    export DISPLAY
    convert -size 1280x800 gradient:'#4b6190'-'#93acc9' "$files/background.png"
    # This command paints the background and then fails.
    display -window root "$files/background.png" 2>/dev/null || true
    start_bus
    printf '[Desktop Entry]\nType=Application\nName=Alerts\nIcon=dialog-warning\nExec=true\n' \
        >"$XDG_DATA_HOME/applications/$app.desktop"
    start /usr/lib/*/xfce4/notifyd/xfce4-notifyd
    wait_for "a notification server" \
        gdbus introspect --session -d org.freedesktop.Notifications -o /org/freedesktop/Notifications
}

# Starts a message bus without service activation, so that no other notification server starts.
start_bus() {
    export DBUS_SESSION_BUS_ADDRESS="unix:path=$files/bus"
    cat >"$files/bus.conf" <<TEXT
<busconfig><type>session</type><listen>unix:path=$files/bus</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>
TEXT
    start dbus-daemon --config-file="$files/bus.conf" --nofork --nopidfile
    wait_for "a message bus" test -S "$files/bus"
}

start_agent() {
    start posthorn-agent
    wait_for "the agent" posthorn agent status
    posthorn enrol --json >"$files/enrolment.json"
    url=$(fact enrolment.json server_url)
    address=${url#https://}
    posthorn agent enrol "$url" "$(fact enrolment.json code)" >/dev/null
    posthorn app add "$app" --name Alerts >/dev/null
    posthorn register "$app" >/dev/null
    posthorn token create --app "$app" --json >"$files/token.json"
    TOKEN=$(fact token.json token)
    authority=$files/server/authority.pem
}

is_shown() { posthorn inbox list --limit 1 --json | grep '"state":"shown"' | grep -q "$1"; }

# Waits for a notification with a text, takes a picture NAME, and closes the alert.
picture() {
    wait_for "a notification for $1" is_shown "${2-}"
    sleep 1.5 # Windows fade in.
    import -window root "$files/screen.png"
    convert "$files/screen.png" -crop 560x360+720+0 +repage "$root/.pictures/sender-$1.png"
    echo ".pictures/sender-$1.png"
    posthorn inbox clear >/dev/null
    sleep 4 # The agent combines alerts that follow each other faster into one banner.
}

# Sends with curl, and prints the parts of the request that have no effect.
send() {
    curl -sS --fail-with-body --cacert "$authority" -H "Authorization: Bearer $TOKEN" "$@" | grep -o '"ignored":[^]]*]' || true
}

# The examples of ntfy's documentation, "Publishing".

sender_ntfy() {
    send -d "Backup successful 😀" "$url/$app"
    picture ntfy-text
    send -H "Title: Unauthorized access detected" -H "Priority: urgent" -H "Tags: warning,skull" \
        -d "Remote access to phils-laptop detected. Act right away." "$url/$app"
    picture ntfy-headers
    send -H "Click: https://home.nest.com/" -H "Attach: https://nest.com/view/yAxkasd.jpg" \
        -H "Actions: http, Open door, https://api.nest.com/open/yAxkasd, clear=true" -H "Email: phil@example.com" \
        -d "There's someone at the door. 🐶

Please check if it's a good boy or a hooman.
Doggies have been known to ring the doorbell." "$url/$app"
    picture ntfy-doorbell
    send -H "X-Tags: warning,mailsrv13,daily-backup" -d "Backup of mailsrv13 failed" "$url/$app"
    picture ntfy-tags
    send -H "Markdown: yes" -d "Look ma, **bold text**, *italics*, ..." "$url/$app"
    picture ntfy-markdown
    send -H "Actions: view, Open portal, https://home.nest.com/, clear=true; \
http, Turn down, https://api.nest.com/, body='{\"temperature\": 65}'" \
        -d "You left the house. Turn down the A/C?" "$url/$app"
    picture ntfy-actions
    send -d '{"topic": "'"$app"'", "message": "Disk space is low at 5.1 GB", "title": "Low disk space alert",
        "tags": ["warning", "cd"], "priority": 4, "attach": "https://filesrv.lan/space.jpg", "filename": "diskspace.jpg",
        "click": "https://homecamera.lan/xasds1h2xsSsa/",
        "actions": [{"action": "view", "label": "Admin panel", "url": "https://filesrv.lan/admin"}]}' "$url"
    picture ntfy-json
    send "$url/$app/publish?message=Webhook+triggered&priority=high&tags=warning,skull"
    picture ntfy-webhook
    send "$url/$app/trigger"
    picture ntfy-trigger
    send -X POST -H "Attach: https://f-droid.org/F-Droid.apk" "$url/$app"
    picture ntfy-attach
}

sender_gotify() {
    curl -sS --fail-with-body --cacert "$authority" -F "title=my title" -F "message=my message" -F "priority=5" \
        "$url/message?token=$TOKEN" >/dev/null
    picture gotify
}

sender_apprise() {
    [ -x "$environment/bin/apprise" ] || {
        python3 -m venv "$environment"
        "$environment/bin/pip" install --quiet --disable-pip-version-check apprise==2.3.0
    }
    for target in "ntfys://$TOKEN@$address/org-example-Alerts" "gotifys://$address/$TOKEN"; do
        REQUESTS_CA_BUNDLE=$authority "$environment/bin/apprise" --title "Nightly Backup" \
            --body "The backup of db1 is complete: 12 GB in 3 min." "$target"
        picture "apprise-${target%%:*}"
    done
}

# Prometheus evaluates a rule, and Alertmanager sends the alert.
sender_alertmanager() {
    cat >"$files/alertmanager.yml" <<TEXT
route:
  receiver: posthorn
  group_by: [alertname]
  group_wait: 1s
  group_interval: 1s
receivers:
  - name: posthorn
    webhook_configs:
      - url: $url/v1/send/$app/alertmanager
        http_config:
          authorization:
            credentials_file: $files/token
          tls_config:
            ca_file: $authority
TEXT
    printf '%s' "$TOKEN" >"$files/token"
    start prometheus-alertmanager --config.file="$files/alertmanager.yml" --storage.path="$files/alertmanager" \
        --web.listen-address=127.0.0.1:0 --cluster.listen-address=
    wait_for "Alertmanager" port_of prometheus-alertmanager
    start_prometheus "$(port_of prometheus-alertmanager)"
    set_rule 'label_replace(vector(91) > 90, "instance", "db1:9100", "", "")'
    picture alertmanager-firing FIRING:1
    set_rule 'label_replace(vector(91) > 90, "instance", "db1:9100", "", "") or label_replace(vector(97) > 90, "instance", "db2:9100", "", "")'
    picture alertmanager-group FIRING:2
    set_rule 'vector(91) > 100'
    picture alertmanager-resolved RESOLVED
}

# Prints the port that a program chose.
port_of() { sed -n 's/.*address=127\.0\.0\.1:\([1-9][0-9]*\).*/\1/p' "$files/$1.log" | head -n 1 | grep .; }

start_prometheus() {
    cat >"$files/prometheus.yml" <<TEXT
global: {evaluation_interval: 1s}
rule_files: ["$files/rules.yml"]
alerting:
  alertmanagers:
    - static_configs: [{targets: ["127.0.0.1:$1"]}]
TEXT
    echo 'groups: []' >"$files/rules.yml"
    start prometheus --config.file="$files/prometheus.yml" --storage.tsdb.path="$files/prometheus" \
        --rules.alert.resend-delay=1s --web.listen-address=127.0.0.1:0
    prometheus=$!
    wait_for "Prometheus" grep -q "ready to receive" "$files/prometheus.log"
}

set_rule() {
    cat >"$files/rules.yml" <<TEXT
groups:
  - name: disks
    rules:
      - alert: HostOutOfDiskSpace
        expr: '$1'
        labels: {severity: warning}
        annotations:
          summary: 'Host out of disk space (instance {{ \$labels.instance }})'
          description: 'Disk is almost full (< 10% left). VALUE = {{ \$value }}'
TEXT
    kill -HUP "$prometheus"
}

# The body in Grafana's documentation, "Configure webhook notifications".
sender_grafana() {
    cat >"$files/grafana.json" <<'TEXT'
{"receiver": "My Super Webhook", "status": "firing", "orgId": 1,
 "alerts": [
  {"status": "firing", "labels": {"alertname": "High memory usage", "team": "blue", "zone": "us-1"},
   "annotations": {"description": "The system has high memory usage", "runbook_url": "https://myrunbook.com/runbook/1234",
    "summary": "This alert was triggered for zone us-1"},
   "startsAt": "2021-10-12T09:51:03.157076+02:00", "endsAt": "0001-01-01T00:00:00Z",
   "generatorURL": "https://play.grafana.org/alerting/1afz29v7z/edit", "fingerprint": "c6eadffa33fcdf37",
   "silenceURL": "https://play.grafana.org/alerting/silence/new?alertmanager=grafana&matchers=alertname%3DT2%2Cteam%3Dblue%2Czone%3Dus-1",
   "dashboardURL": "", "panelURL": "", "values": {"B": 44.23943737541908, "C": 1}},
  {"status": "firing", "labels": {"alertname": "High CPU usage", "team": "blue", "zone": "eu-1"},
   "annotations": {"description": "The system has high CPU usage", "runbook_url": "https://myrunbook.com/runbook/1234",
    "summary": "This alert was triggered for zone eu-1"},
   "startsAt": "2021-10-12T09:56:03.157076+02:00", "endsAt": "0001-01-01T00:00:00Z",
   "generatorURL": "https://play.grafana.org/alerting/d1rdpdv7k/edit", "fingerprint": "bc97ff14869b13e3",
   "silenceURL": "https://play.grafana.org/alerting/silence/new?alertmanager=grafana&matchers=alertname%3DT1%2Cteam%3Dblue%2Czone%3Deu-1",
   "dashboardURL": "", "panelURL": "", "values": {"B": 44.23943737541908, "C": 1}}],
 "groupLabels": {}, "commonLabels": {"team": "blue"}, "commonAnnotations": {},
 "externalURL": "https://play.grafana.org/", "version": "1", "groupKey": "{}:{}", "truncatedAlerts": 0,
 "title": "[FIRING:2]  (blue)", "state": "alerting",
 "message": "**Firing**\n\nLabels:\n - alertname = T2\n - team = blue\n - zone = us-1\nAnnotations:\n - description = This is the alert rule checking the second system\n - runbook_url = https://myrunbook.com\n - summary = This is my summary\nSource: https://play.grafana.org/alerting/1afz29v7z/edit\nSilence: https://play.grafana.org/alerting/silence/new?alertmanager=grafana&matchers=alertname%3DT2%2Cteam%3Dblue%2Czone%3Dus-1\n"}
TEXT
    send -H "Content-Type: application/json" --data-binary "@$files/grafana.json" "$url/v1/send/$app/grafana"
    picture grafana
    # A single alert without annotations.
    cat >"$files/grafana.json" <<'TEXT'
{"receiver": "posthorn", "status": "firing", "orgId": 1,
 "alerts": [{"status": "firing", "labels": {"alertname": "High CPU usage", "grafana_folder": "Servers", "instance": "db1"},
  "annotations": {}, "startsAt": "2026-10-12T09:51:03Z", "endsAt": "0001-01-01T00:00:00Z",
  "generatorURL": "https://play.grafana.org/alerting/grafana/1afz29v7z/view", "fingerprint": "c6eadffa33fcdf37",
  "valueString": "[ var='B' labels={instance=db1} value=97 ]", "values": {"B": 97}}],
 "groupLabels": {"alertname": "High CPU usage", "grafana_folder": "Servers"},
 "commonLabels": {"alertname": "High CPU usage", "grafana_folder": "Servers", "instance": "db1"}, "commonAnnotations": {},
 "externalURL": "https://play.grafana.org/", "version": "1", "groupKey": "{}/{}:{alertname=\"High CPU usage\"}",
 "truncatedAlerts": 0, "title": "[FIRING:1] High CPU usage Servers (db1)", "state": "alerting",
 "message": "**Firing**\n\nValue: B=97\nLabels:\n - alertname = High CPU usage\n - grafana_folder = Servers\n - instance = db1\n"}
TEXT
    send -H "Content-Type: application/json" --data-binary "@$files/grafana.json" "$url/v1/send/$app/grafana"
    picture grafana-labels
}

[ -x "$programs/posthorn-agent" ] || fail "$programs contains no programs; run 'swift build' first"
mkdir -p .pictures
start_desktop
start_posthornd
start_agent
for sender in ${*:-ntfy gotify apprise alertmanager grafana}; do "sender_$sender"; done
