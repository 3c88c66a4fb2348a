// SPDX-License-Identifier: Apache-2.0

internal import AgentBus
internal import AgentStore
internal import PushNet

/// Enrols the device with the configured values, and retries until the server refuses the code.
final class UnattendedEnrolment {
    private let agent: Agent
    private let loop: EventLoop
    private let configuration: AgentConfiguration
    private var machine = StreamMachine()

    /// Creates the enrolment; it does nothing before `start`.
    init(_ agent: Agent, loop: EventLoop, configuration: AgentConfiguration) {
        self.agent = agent
        self.loop = loop
        self.configuration = configuration
    }

    /// Starts enrolling, unless the device is enrolled or no server is configured.
    func start() { perform(machine.start(at: loop.now)) }

    private func perform(_ action: StreamMachine.Action) {
        switch action {
        case .none: break
        case .connect: enrol()
        case .wait(let duration):
            agent.enrolmentDue = loop.now.advanced(by: duration)
            loop.schedule(after: duration) { [weak self] in
                guard let self else { return }
                agent.enrolmentDue = nil
                perform(machine.timeIsUp())
            }
        }
    }

    private func enrol() {
        // The user may have enrolled the device meanwhile.
        guard let serverURL = configuration.serverURL, agent.link.identity == nil else { return machine.stop() }
        loop.startTask { [self] in
            do throws(AgentRefusal) {
                _ = try await agent.enrolment.enrol(
                    serverURL: serverURL, code: configuration.enrolmentCode, caFile: configuration.caFile,
                    name: configuration.deviceName)
                machine.stop()
            } catch {
                retry(after: error)
            }
        }
    }

    private func retry(after refusal: AgentRefusal) {
        // A refused code stays refused; every other failure may be temporary.
        let isFinal = refusal.code == .badEnrolmentCode
        agentLog.warning(
            "not_enrolled",
            [
                "error": refusal.code.rawValue, "text": refusal.message, "tried_again": isFinal ? "no" : "yes",
                "remedy": Self.remedy(refusal.code),
            ])
        if isFinal {
            machine.refuse()
        } else {
            perform(
                machine.ended(
                    at: loop.now, fraction: Double.random(in: 0...1),
                    retryAfter: refusal.retryAfter))
        }
        let addition = isFinal ? " The agent does not retry: \(Self.remedy(refusal.code))." : ""
        agent.link.report(ConnectionFailure(Self.problem(refusal.code), refusal.message + addition))
    }

    private static func problem(_ code: AgentErrorCode) -> ConnectionProblem {
        switch code {
        case .badEnrolmentCode: .enrolmentCode
        case .notTrusted: .certificate
        case .badFile, .badServer: .configuration
        case .unreachable: .unreachable
        case .failed: .storage
        default: .server
        }
    }

    private static func remedy(_ code: AgentErrorCode) -> String {
        switch code {
        case .badEnrolmentCode: "set enrolment_code in agent.ini and restart the agent"
        case .notTrusted:
            "set enrolment_code in agent.ini to a new code, or ca_file to the CA certificate, and restart the agent"
        case .badFile: "correct the file and restart the agent"
        case .unreachable: "check that the server is running and that this machine can reach it"
        default: "check url in agent.ini and the server's log"
        }
    }
}
