// SPDX-License-Identifier: Apache-2.0

internal import AgentBus

/// Explains the problems of the agent's connection.
enum ConnectionAdvice {
    /// Returns what a problem means and what to do; nil where the error itself says it.
    static func text(on problem: ConnectionProblem, isEnrolled: Bool) -> String? {
        switch problem {
        case .wrongServer:
            "The server's certificate is from a different CA than at enrolment: the server was reinstalled or changed its "
                + "CA, or another machine intercepts the connection. Ask the administrator. If the change is intended, "
                + "run 'posthorn agent trust CODE' with the code that 'posthorn authority list' prints on the server."
        case .storage: "The disk of this device is full or cannot be written. Free some space."
        case .certificate where !isEnrolled:
            "The server's certificate is not trusted: set enrolment_code in agent.ini to the complete code, or ca_file to "
                + "the server's CA certificate. Also check that the certificate has not expired and contains the host name."
        case .certificate:
            "The server's certificate is not valid: it expired, has another name, or this device's clock is wrong."
        case .none, .unreachable, .configuration, .secretLost, .enrolmentCode, .removed, .server: nil
        }
    }
}
