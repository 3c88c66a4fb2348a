// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushAPI
internal import PushCore
internal import PushHTTP
internal import PushNet
internal import PushServing
internal import PushStore

/// `/v1/doctor`: what the server can check about itself.
struct AdminDoctor: AdminResource {
    let services: LoopServices

    func answer(
        _ exchange: HTTPExchange, _ connection: ServerConnection, _ rest: [String],
        _ parameters: [AdminTarget.Parameter]
    ) {
        guard rest.isEmpty else { return AdminAnswer.refusePath(exchange) }
        guard exchange.method == .get else { return AdminAnswer.refuseMethod(exchange, allowed: "GET") }
        let context = services.context
        perform(.allDevices(.trust), exchange, connection) { answer, exchange in
            guard case .trust(let trust) = answer else { return }
            let cutOffCount = context.authorities.cutOffCount(trust, now: .now)
            let findings = [
                configuration, certificate, devices(cutOffCount), space, connections, memory,
            ]
            ControlAnswer.send(exchange, DoctorAPI.Findings(findings: findings))
        }
    }

    private var configuration: DoctorAPI.Finding {
        let running = services.context.settings.configuration
        let new: ServerConfiguration?
        do throws(ConfigurationError) { new = try running.read?() } catch {
            return DoctorAPI.Finding(
                "configuration", .error, "\(error.place): \(error.problem)", remedy: "\(error.remedy)")
        }
        guard let reload = new.map(running.reload) else {
            return DoctorAPI.Finding("configuration", .ok, "This server has no configuration file.")
        }
        func names(_ keys: [ConfigurationKey]) -> String { keys.map(\.rawValue).joined(separator: ", ") }
        if !reload.waiting.isEmpty {
            return DoctorAPI.Finding(
                "configuration", .warning, "Changed settings wait for a restart: \(names(reload.waiting)).",
                remedy: "Run 'systemctl restart posthornd'.")
        }
        if !reload.applied.isEmpty {
            return DoctorAPI.Finding(
                "configuration", .warning, "Changed settings are not applied: \(names(reload.applied)).",
                remedy: "Run 'systemctl reload posthornd'.")
        }
        return DoctorAPI.Finding("configuration", .ok, "It is valid, and the server uses all of it.")
    }

    private var certificate: DoctorAPI.Finding {
        let path = services.context.installation.certificateFile
        guard let end = services.context.installation.certificateExpiry else {
            return DoctorAPI.Finding("certificate", .skipped, "No certificate is loaded yet.")
        }
        let seconds = end.seconds(since: .now)
        let text = EventLog.timeText(unixSeconds: end.unixSeconds)
        guard seconds > 0 else {
            return DoctorAPI.Finding(
                "certificate", .error, "The certificate from \(path) expired at \(text).",
                remedy: "Renew it, then run 'systemctl reload posthornd'.")
        }
        let isSoon = CertificateValidity.due(seconds: seconds) != nil
        return DoctorAPI.Finding(
            "certificate", isSoon ? .warning : .ok, "It expires at \(text), in \(seconds / 86_400) days.",
            remedy: isSoon ? "Renew it, then run 'systemctl reload posthornd'." : nil)
    }

    private func devices(_ cutOffCount: Int) -> DoctorAPI.Finding {
        guard cutOffCount > 0 else {
            return DoctorAPI.Finding("trust", .ok, "All enrolled devices trust the server's certificate.")
        }
        return DoctorAPI.Finding(
            "trust", .error, "\(cutOffCount) enrolled devices do not trust the server's certificate.",
            remedy: "See 'posthorn authority list'.")
    }

    private var space: DoctorAPI.Finding {
        let directory = services.context.installation.directory
        if let since = services.context.storeCondition.diskFullSince {
            return DoctorAPI.Finding(
                "disk", .error, "It is full since \(EventLog.timeText(unixSeconds: since.unixSeconds)).",
                remedy: "Free space for \(directory).")
        }
        var status = statvfs()
        guard unsafe statvfs(directory, &status) == 0, status.f_blocks > 0 else {
            return DoctorAPI.Finding("disk", .skipped, "The free space of \(directory) is unknown.")
        }
        let percent = Int(status.f_bavail * 100 / status.f_blocks)
        let megabytes = (Int(status.f_bavail) * Int(status.f_frsize)) >> 20
        let isLow = percent < Limits.doctorFreePercentMin
        return DoctorAPI.Finding(
            "disk", isLow ? .warning : .ok, "\(megabytes) MiB are free for \(directory), \(percent) %.",
            remedy: isLow ? "Free space, or lower trace_megabytes." : nil)
    }

    private var connections: DoctorAPI.Finding {
        let limiter = services.context.serving.limiter
        let counts = limiter.counts
        let (used, limit) = (counts.strangers + counts.devices + counts.providers, limiter.caps.all)
        guard used * 10 >= limit * 9 || counts.overLimit > 0 else {
            return DoctorAPI.Finding("connections", .ok, "\(used) of \(limit) are in use.")
        }
        return DoctorAPI.Finding(
            "connections", .warning,
            "\(used) of \(limit) are in use; since the start, \(counts.overLimit) arrived over a limit.",
            remedy: "Raise LimitNOFILE= of the unit, or the setting connections.")
    }

    private var memory: DoctorAPI.Finding {
        let budget = services.context.serving.memory
        guard budget.pauseCount > 0 else {
            return DoctorAPI.Finding("memory", .ok, "Connections never reached the memory budget.")
        }
        return DoctorAPI.Finding(
            "memory", .warning,
            "Reading was paused \(budget.pauseCount) times, because connections held too much memory.",
            remedy: "Raise memory_budget_megabytes, or MemoryHigh= of the unit.")
    }
}
