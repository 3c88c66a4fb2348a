// SPDX-License-Identifier: Apache-2.0

package import PushNet

/// Enrols by the configuration where nobody is there to do it, and tries again until the server itself refuses the code.
package final class UnattendedEnrolment {
    private let agent: Agent
    private let loop: EventLoop
    private let configuration: AgentConfiguration
    private var machine = StreamMachine()

    /// Does nothing before `start`.
    package init(_ agent: Agent, loop: EventLoop, configuration: AgentConfiguration) {
        self.agent = agent
        self.loop = loop
        self.configuration = configuration
    }

    /// Does nothing when the device is enrolled or no server is configured.
    package func start() { perform(machine.start(atNanoseconds: loop.monotonicNanoseconds)) }

    private func perform(_ action: StreamMachine.Action) {
        switch action {
        case .none: break
        case .connect: enrol()
        case .wait(let duration):
            agent.enrolmentDueNanoseconds = loop.monotonicNanoseconds &+ UInt64(duration / .nanoseconds(1))
            loop.schedule(after: duration) { [weak self] in
                guard let self else { return }
                agent.enrolmentDueNanoseconds = nil
                perform(machine.timeIsUp())
            }
        }
    }

    private func enrol() {
        // A person may have enrolled meanwhile.
        guard let serverURL = configuration.serverURL, agent.identity == nil else { return machine.stop() }
        agent.enrol(
            serverURL: serverURL, code: configuration.enrolmentCode, caFile: configuration.caFile,
            name: configuration.deviceName
        ) { [weak self] result in self?.finish(result) }
    }

    private func finish(_ result: Result<String, AgentRefusal>) {
        guard case .failure(let refusal) = result else { return machine.stop() }
        // A code that was refused stays refused; anything else may change by itself.
        let isFinal = refusal.code == .badEnrolmentCode
        agentLog.warning(
            "not_enrolled",
            [
                "error": refusal.code.rawValue, "text": refusal.message, "tried_again": isFinal ? "no" : "yes",
                "remedy": Self.remedy(refusal.code),
            ])
        agent.lastError = refusal.message
        if isFinal {
            agent.lastError += " It is not tried again: \(Self.remedy(refusal.code))."
            machine.refuse()
        } else {
            perform(
                machine.ended(
                    atNanoseconds: loop.monotonicNanoseconds, fraction: Double.random(in: 0...1),
                    retryAfter: refusal.retryAfter))
        }
        agent.observer?.statusChanged()
    }

    private static func remedy(_ code: AgentRefusal.Code) -> String {
        switch code {
        case .badEnrolmentCode: "set enrolment_code in agent.ini and restart the agent"
        case .notTrusted:
            "set enrolment_code in agent.ini to a new code, or ca_file to the authority, and restart the agent"
        case .badFile: "put that file right and restart the agent"
        case .unreachable: "see that the server runs and that this machine reaches it"
        default: "see url in agent.ini, and the server's log"
        }
    }
}
