// SPDX-License-Identifier: Apache-2.0

/// Creates the endpoints of listeners, so that loops know no API.
enum EndpointFactory {
    static func make(_ kind: Listener.Kind, _ loop: ServerLoop) -> any Endpoint {
        switch kind {
        case .admin: return AdminEndpoint(loop: loop)
        case .network(let role):
            let network = NetworkEndpoint(loop: loop, role: role)
            guard let testMode = loop.context.testMode else { return network }
            return TestModeEndpoint(network, testMode.failures)
        }
    }
}
