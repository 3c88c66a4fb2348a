// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PushAPI
internal import PushCore
internal import PushCurl
internal import PushNet

/// The checks of the server on this machine: its own findings, and how clients see it.
struct ServerDoctor {
    /// The slowest synchronization of the disk that needs no remark, in milliseconds.
    private static let synchronizationMillisecondsMax = 20.0
    private static let synchronizationCount = 20

    let admin: AdminClient

    /// Returns the findings; empty if no server was installed on this machine.
    func findings() -> [DoctorAPI.Finding] {
        let status: AdminAPI.Status
        do throws(CommandError) { status = try admin.send(.get("status"), for: AdminAPI.Status.self) } catch {
            return [DoctorAPI.Finding("server", .error, error.problem, remedy: error.remedy)]
        }
        var findings = [
            DoctorAPI.Finding(
                "server", .ok, "posthornd \(status.version) runs since \(LocalTime.text(status.startedAt)).")
        ]
        do throws(CommandError) {
            findings += try admin.send(.get("doctor"), for: DoctorAPI.Findings.self).findings
        } catch {
            findings.append(DoctorAPI.Finding("server", .error, error.problem, remedy: error.remedy))
        }
        findings.append(synchronization(in: status.dataDirectory))
        findings += store()
        if status.counts.dropped > 0 {
            findings.append(
                DoctorAPI.Finding(
                    "queues", .warning, "\(status.counts.dropped) notifications were dropped since the start.",
                    remedy: "'posthorn trace --app TOPIC' shows which; see pending_per_topic and pending_per_device."))
        }
        return findings + [name(of: status), reach(status)] + [Self.clock()]
    }

    /// Returns the problems of the cluster, or how to check the database of a server that has no cluster.
    private func store() -> [DoctorAPI.Finding] {
        do throws(CommandError) {
            let cluster = try admin.send(.get("cluster"), for: ClusterAPI.Status.self)
            return Self.findings(of: cluster)
        } catch {
            guard error.refusal?.error == "NoCluster" else {
                return [DoctorAPI.Finding("cluster", .error, error.problem, remedy: error.remedy)]
            }
            return [
                DoctorAPI.Finding(
                    "store", .skipped, "It is not checked while the server uses it.",
                    remedy: "Run 'posthorn backup DIRECTORY', then 'posthornd --check-backup DIRECTORY'.")
            ]
        }
    }

    /// Returns the problems that `posthorn cluster status` shows.
    static func findings(of cluster: ClusterAPI.Status) -> [DoctorAPI.Finding] {
        guard !cluster.problems.isEmpty else {
            return [DoctorAPI.Finding("cluster", .ok, "The nodes and PostgreSQL have no problems.")]
        }
        return cluster.problems.map { DoctorAPI.Finding("cluster", .warning, $0.text) }
    }

    /// Measures how long the disk takes to synchronize a write.
    private func synchronization(in directory: String) -> DoctorAPI.Finding {
        let path = "\(directory)/.doctor-\(getpid())"
        let descriptor = unsafe open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            return DoctorAPI.Finding(
                "fsync", .skipped, "\(directory) cannot be written by this user.", remedy: "Run the command as root.")
        }
        defer {
            close(descriptor)
            unsafe unlink(path)
        }
        let page = [UInt8](repeating: 0x55, count: 4096)
        var milliseconds: [Double] = []
        for _ in 0..<Self.synchronizationCount {
            let start = ContinuousClock.now
            guard unsafe write(descriptor, page, page.count) == page.count, fdatasync(descriptor) == 0 else {
                return DoctorAPI.Finding("fsync", .error, "\(directory) cannot be written: \(SystemError.text(errno)).")
            }
            milliseconds.append((ContinuousClock.now - start) / .milliseconds(1))
        }
        let median = milliseconds.sorted()[milliseconds.count / 2]
        let rounded = (median * 100).rounded() / 100
        guard median > Self.synchronizationMillisecondsMax else {
            return DoctorAPI.Finding("fsync", .ok, "The disk synchronizes a write in \(rounded) ms.")
        }
        return DoctorAPI.Finding(
            "fsync", .warning,
            "The disk needs \(rounded) ms to synchronize a write, and so does each answer to a provider.",
            remedy: "Move data_directory to a faster disk.")
    }

    /// Resolves the name that devices and providers use.
    private func name(of status: AdminAPI.Status) -> DoctorAPI.Finding {
        let host = HostName.host(of: status.serverURL)
        let addresses = HostName.addresses(of: host)
        guard !addresses.isEmpty else {
            return DoctorAPI.Finding(
                "DNS", .error, "\(host) has no address.",
                remedy: "Add it to the DNS, or set names to a name that clients can resolve.")
        }
        let isLocal = addresses.allSatisfy { $0.hasPrefix("127.") || $0 == "::1" }
        guard isLocal else {
            return DoctorAPI.Finding("DNS", .ok, "\(host) has the address \(addresses.joined(separator: ", ")).")
        }
        return DoctorAPI.Finding(
            "DNS", .warning, "\(host) is this machine only (\(addresses.joined(separator: ", "))).",
            remedy: "Set names to the name that other machines use, if there are any.")
    }

    /// Connects to the server as a client does.
    private func reach(_ status: AdminAPI.Status) -> DoctorAPI.Finding {
        let host = HostName.host(of: status.serverURL)
        guard !HostName.addresses(of: host).isEmpty else {
            return DoctorAPI.Finding("port", .skipped, "It cannot be checked, because \(host) has no address.")
        }
        var request = HTTPRequest(method: "GET", url: "\(status.serverURL)/")
        request.caFile = status.caFile
        request.timeout = .seconds(10)
        do throws(CurlError) {
            _ = try HTTPClient().send(request)
            return DoctorAPI.Finding("port", .ok, "\(status.serverURL) answers, and its certificate is trusted.")
        } catch {
            let remedy =
                switch error.kind {
                case .unknownAuthority, .tls, .authorityFile, .certificateFile:
                    "Configure a certificate for this name; see docs/how-to/rotate-certificates.md."
                default: "Check the firewall, and listen in the configuration."
                }
            return DoctorAPI.Finding("port", .error, "\(status.serverURL): \(error.message)", remedy: remedy)
        }
    }

    /// Returns whether the clock is synchronized.
    static func clock() -> DoctorAPI.Finding {
        guard let isSynchronized = ProcessFacts.isClockSynchronized else {
            return DoctorAPI.Finding("clock", .skipped, "The kernel does not tell whether it is synchronized.")
        }
        guard !isSynchronized else { return DoctorAPI.Finding("clock", .ok, "It is synchronized.") }
        return DoctorAPI.Finding(
            "clock", .warning, "It is not synchronized; provider tokens depend on the time.",
            remedy: "Start a time service, for example systemd-timesyncd.")
    }
}
