// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import Glibc
internal import PushAPI
internal import PushCore
internal import PushDBus

/// The checks of this user's agent and desktop.
struct DeviceDoctor {
    let context: CommandContext

    /// Returns the findings.
    func findings() -> [DoctorAPI.Finding] {
        let agent: AgentClient
        let status: StatusRecord
        do throws(CommandError) {
            agent = try context.agent()
            status = StatusRecord(try AgentAnswer.dictionary(try agent.call(AgentCall(.getStatus)), of: .getStatus))
        } catch {
            return [DoctorAPI.Finding("agent", .error, error.problem, remedy: error.remedy)]
        }
        return [
            DoctorAPI.Finding("agent", .ok, "posthorn-agent \(status.version) runs as process \(status.processID)."),
            enrolment(status), connection(status), proxy, presenter(status, agent), sounds(agent), panel,
            ServerDoctor.clock(),
        ].compactMap(\.self)
    }

    private func enrolment(_ status: StatusRecord) -> DoctorAPI.Finding {
        if status.isRemoved {
            return DoctorAPI.Finding(
                "enrolment", .error, "The server removed this device.",
                remedy: "Run 'posthorn agent unenrol', then enrol again.")
        }
        guard status.isEnrolled else {
            return DoctorAPI.Finding(
                "enrolment", .error, "This device is not enrolled with a server.",
                remedy: "Run 'posthorn enrol' on the server, and the command that it prints on this device.")
        }
        return DoctorAPI.Finding("enrolment", .ok, "Device \(status.deviceID) of \(oneLine(status.serverURL)).")
    }

    private func connection(_ status: StatusRecord) -> DoctorAPI.Finding? {
        guard status.isEnrolled, !status.isRemoved else { return nil }
        if status.isConnected {
            let since = status.connectedSince.map { " since \(LocalTime.text($0))" } ?? ""
            return DoctorAPI.Finding("connection", .ok, "The agent is connected\(since).")
        }
        let host = HostName.host(of: status.serverURL)
        guard !HostName.addresses(of: host).isEmpty else {
            return DoctorAPI.Finding(
                "connection", .error, "The name \(oneLine(host)) has no address.",
                remedy: "Check the network and the DNS of this machine.")
        }
        let last = status.lastConnectedAt.map { "; last connection: \(LocalTime.text($0))" } ?? ""
        return DoctorAPI.Finding(
            "connection", .error, "Not connected: \(oneLine(status.lastError))\(last).",
            remedy: ConnectionAdvice.text(on: status.problem, isEnrolled: true)
                ?? "Check that the server runs and can be reached.")
    }

    private var proxy: DoctorAPI.Finding {
        let names = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        guard let name = names.first(where: { context.variable($0) != nil }) else {
            return DoctorAPI.Finding(
                "proxy", .ok, "This shell names none; agent.ini and the agent's service may name one.")
        }
        return DoctorAPI.Finding(
            "proxy", .ok, "This shell names one in \(name); the agent uses that of its own service.")
    }

    private func presenter(_ status: StatusRecord, _ agent: AgentClient) -> DoctorAPI.Finding {
        guard !status.presenter.isEmpty, status.presenter != "none" else {
            return DoctorAPI.Finding(
                "alerts", .warning, "Nothing shows alerts; they stay in the inbox.",
                remedy: "Start a notification server, or use 'posthorn watch' or hooks.")
        }
        guard status.presenter.contains("desktop") else {
            return DoctorAPI.Finding("alerts", .ok, "They are shown by: \(oneLine(status.presenter)).")
        }
        guard let server = notificationServer(agent) else {
            return DoctorAPI.Finding(
                "alerts", .error, "The notification server does not answer.",
                remedy: "Restart the desktop's notification server.")
        }
        return DoctorAPI.Finding("alerts", .ok, "They are shown by \(oneLine(server)).")
    }

    /// Returns the name and the version of the notification server.
    private func notificationServer(_ agent: AgentClient) -> String? {
        let name = "org.freedesktop.Notifications"
        guard
            let answer = try? agent.connection.call(
                name, "/org/freedesktop/Notifications", name, "GetServerInformation", [], timeout: .seconds(5)),
            answer.count >= 3, let product = answer[0].stringValue, let version = answer[2].stringValue
        else { return nil }
        return "\(product) \(version)"
    }

    private func sounds(_ agent: AgentClient) -> DoctorAPI.Finding {
        let runtime = context.variable("XDG_RUNTIME_DIR") ?? ""
        let sockets = ["\(runtime)/pulse/native", "\(runtime)/pipewire-0"]
        let hasServer = context.variable("PULSE_SERVER") != nil || sockets.contains { unsafe access($0, F_OK) == 0 }
        guard hasServer else {
            return DoctorAPI.Finding(
                "sounds", .warning, "There is no sound server of this user.",
                remedy: "Start PipeWire or PulseAudio, if this machine should play sounds.")
        }
        return DoctorAPI.Finding("sounds", .ok, "There is a sound server. 'posthorn sound play glimmer' plays a sound.")
    }

    private var panel: DoctorAPI.Finding {
        let folders = (context.variable("PATH") ?? "/usr/bin").split(separator: ":")
        let isInstalled = folders.contains { unsafe access("\($0)/posthorn-panel", X_OK) == 0 }
        return isInstalled
            ? DoctorAPI.Finding("panel", .ok, "posthorn-panel is installed.")
            : DoctorAPI.Finding(
                "panel", .warning, "posthorn-panel is not installed, so alerts of style 'alert' appear as banners.",
                remedy: "Install it, unless this machine has no desktop.")
    }
}
